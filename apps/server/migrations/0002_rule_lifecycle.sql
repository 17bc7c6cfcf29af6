-- Update, pause, resume and expiry of rules.

-- Paused by itself from then on.
alter table rules add column expires_at timestamptz;
-- A change that waits for the upstreams: the version it leads to, and since when. Undone when its process died.
alter table rules add column changing_to integer;
alter table rules add column changing_since timestamptz;
create index rules_expiring on rules (expires_at) where expires_at is not null and state in ('active', 'failed');
create index rules_changing on rules (changing_since) where changing_to is not null;
create index rules_paused on rules (account_id) where state = 'paused';

-- Held for a change that is not applied yet: its events are not the rule's.
alter table slot_holders add column pending boolean not null default false;
-- Coverage of a rule on a slot that others hold longer begins here. Unknown for holders from before this file.
alter table slot_holders add column since timestamptz;
alter table slot_holders alter column since set default now();
-- Held for an older version until then, because the new upstream rule takes time to become effective.
alter table slot_holders add column release_at timestamptz;
create index slot_holders_to_release on slot_holders (release_at) where release_at is not null;
