-- compatible with 0008_incarnations.sql

-- What a rule tells a platform besides its value, where that differs from the platform's default: it is registered with
-- the value, and is part of what makes a slot (src/slots/slot.ts). `json` keeps the text as it is written, sorted by name.
alter table rule_versions add column options json not null default '{}';
alter table slots add column options json not null default '{}';

-- A rule says whether it is heard right now: how long a platform takes to heed a rule, and what state its source is in.
alter table sources add column rule_delay_ms integer not null default 0;
grant select (state, rule_delay_ms) on sources to earshot_account;
