-- What came of it: the ledger of listening, matches, and those who read them.

-- coverage: listening (ingest) writes it, coverage reads it ----------------------------------------------------------

-- Times in which a source was listening. Whatever is not inside a row is a gap.
create table coverage (
  id bigint generated always as identity primary key,
  source_id text not null,
  from_at timestamptz not null,
  -- Grows while the stream is up: after a crash it is the last proven moment.
  proven_until timestamptz not null,
  -- The last byte of the stream. A stream that went silent is found after some 25 s; who dies before that has proven a
  -- time in which nothing was heard, so what it leaves open ends here.
  heard_until timestamptz,
  -- Null while open, and for ever when the process died.
  ended_because text,
  -- The gap that the opening of this interval ended, and what was done about what was missed in it.
  gap_from timestamptz,
  gap_because text,
  -- Null: nothing is decided yet. `partly`: some slots were repaired, see gap_repairs. `none`: nothing can be done.
  repair text check (repair in ('under_way', 'repaired', 'partly', 'none')),
  repair_via text,
  repair_because text
);
create index coverage_by_source on coverage (source_id, from_at);
create index coverage_to_repair on coverage (source_id, from_at)
  where gap_from is not null and (repair is null or repair = 'under_way');

-- The repair of one gap for one slot, page by page: whoever takes over after a crash goes on with the next page.
create table gap_repairs (
  coverage_id bigint not null references coverage (id) on delete cascade,
  slot_id text not null,
  via text not null,
  state text not null check (state in ('waiting', 'done', 'impossible')),
  -- Why it is impossible, or what it waits for.
  because text,
  next_token text,
  matches integer not null default 0,
  fidelity text[] not null default '{}',
  primary key (coverage_id, slot_id)
);

-- What repairs have cost: posts that search returned, per UTC day.
create table repair_spending (
  day date primary key,
  posts integer not null
);

-- Since when, and until when, a rule held a slot. slot_holders knows only the present.
create table watches (
  rule_id text not null references rules (id) on delete cascade,
  account_id text not null,
  platform text not null,
  slot_id text not null,
  from_at timestamptz not null,
  to_at timestamptz
);
create index watches_by_rule on watches (rule_id, from_at);
create index watches_open on watches (slot_id, rule_id) where to_at is null;

-- Since when, and until when, a source had a slot's rule upstream. After a move both sources serve for a while: the end
-- of the former one is written by slots/slot-moving.sql.ts, everything else by the trigger below.
create table slot_services (
  slot_id text not null,
  source_id text not null,
  from_at timestamptz not null,
  to_at timestamptz
);
create index slot_services_by_slot on slot_services (slot_id, from_at);
create index slot_services_by_source on slot_services (source_id, slot_id);

-- Times in which a registered slot had no rule upstream. The history outlives the slot; it goes with the matches.
create table slot_gaps (
  id bigint generated always as identity primary key,
  slot_id text not null,
  from_at timestamptz not null,
  to_at timestamptz
);
create index slot_gaps_by_slot on slot_gaps (slot_id, from_at);

-- Triggers, because slots are taken, left and moved in many places, and a place that forgot its line would make the
-- ledger lie without anybody noticing.
create function record_watch() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    update watches set to_at = now() where slot_id = old.slot_id and rule_id = old.rule_id and to_at is null;
  elsif not new.pending and (tg_op = 'INSERT' or old.pending) then
    insert into watches (rule_id, account_id, platform, slot_id, from_at)
    values (new.rule_id, new.account_id, new.platform, new.slot_id, now());
  end if;
  return null;
end $$;
create trigger watches_follow_holders after insert or delete or update of pending on slot_holders
  for each row execute function record_watch();

create function record_service() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    update slot_services set to_at = now() where slot_id = old.id and to_at is null;
    update slot_gaps set to_at = now() where slot_id = old.id and to_at is null;
    return null;
  end if;
  if new.state = 'registered' then
    insert into slot_services (slot_id, source_id, from_at)
    select new.id, new.source_id, now() where not exists (
      select 1 from slot_services where slot_id = new.id and source_id = new.source_id and to_at is null);
  elsif new.state = 'deleting' or (tg_op = 'UPDATE' and new.registered_at is null and old.registered_at is not null) then
    update slot_services set to_at = now() where slot_id = new.id and to_at is null;
  end if;
  return null;
end $$;
create trigger services_follow_slots after insert or delete or update of state, source_id, registered_at on slots
  for each row execute function record_service();

-- matching ---------------------------------------------------------------------------------------------------------

-- The payload once per event, however many rules match. Text with lz4: measured 3 times faster than jsonb.
create table posts (
  platform text not null,
  event_key text not null,
  event_day date not null,
  platform_post_id text not null,
  payload text compression lz4 not null,
  primary key (event_key, platform, event_day)
) partition by range (event_day);

create table matches (
  position bigint not null,
  account_id text not null,
  rule_id text not null,
  rule_version integer not null,
  platform text not null,
  event_key text not null,
  event_day date not null,
  created_at timestamptz not null default now(),
  via text not null default 'stream',
  primary key (rule_id, event_key, event_day)
) partition by range (event_day);
create index matches_by_account on matches (account_id, position);
create index matches_by_rule on matches (rule_id, position);
-- The tail of the match log, which each node reads once for everybody who waits on it.
create index matches_by_position on matches (position);

-- Its row lock is held from the assignment of positions to the commit, so positions become visible in order.
create table match_log (
  only_row boolean primary key default true check (only_row),
  last_position bigint not null
);
insert into match_log (last_position) values (0);

create table usage (
  account_id text not null,
  rule_id text not null,
  platform text not null,
  day date not null,
  matches bigint not null,
  last_match_at timestamptz not null,
  primary key (rule_id, platform, day)
);

-- Partitions by the event's own day, made ahead: an insert must never meet a missing one.
create function ensure_partitions(first_day date, last_day date) returns void language plpgsql as $$
declare
  day date := first_day;
begin
  while day <= last_day loop
    execute format('create table if not exists %I partition of posts for values from (%L) to (%L)',
      'posts_' || to_char(day, 'YYYYMMDD'), day, day + 1);
    execute format('create table if not exists %I partition of matches for values from (%L) to (%L)',
      'matches_' || to_char(day, 'YYYYMMDD'), day, day + 1);
    day := day + 1;
  end loop;
end $$;

-- Whatever was in the event log at this time has been matched. Not in match_log, whose row every commit locks.
create table match_progress (
  only_row boolean primary key default true check (only_row),
  matched_through timestamptz not null
);
insert into match_progress (matched_through) values (now());

-- Events that could not be stored after several tries. Acknowledged in the log only once they are here.
create table dead_letters (
  id bigint generated always as identity primary key,
  sequence bigint not null,
  -- The message as it stood in the log: it may be no event at all.
  body text compression lz4 not null,
  error text not null,
  deliveries integer not null,
  -- Set by the operator; a match worker then tries once more.
  retry_requested boolean not null default false,
  created_at timestamptz not null default now()
);
create index dead_letters_to_retry on dead_letters (id) where retry_requested;

-- Which messages of the log were dealt with, written before they are acknowledged; removed once checked.
create table settled_batches (
  last_sequence bigint not null,
  sequences bigint[] not null
);

-- Up to which sequence every message of the log is known to be dealt with.
create table log_check (
  only_row boolean primary key default true check (only_row),
  -- A log that was made anew counts from 1 again.
  log_created_at text not null,
  checked_through bigint not null
);

-- The last position that retention removed, per rule: a follower with an older cursor has missed something.
create table removed_matches (
  account_id text not null,
  rule_id text not null references rules (id) on delete cascade,
  platform text not null,
  last_position bigint not null,
  primary key (account_id, rule_id, platform)
);
create index removed_matches_by_rule on removed_matches (rule_id);

-- readers ----------------------------------------------------------------------------------------------------------

-- Readers whose position the server keeps. They do not refer to rules: one whose rule is gone stays to say so.
create table readers (
  account_id text not null references accounts (id) on delete cascade,
  name text not null,
  -- What it reads, for as long as it exists.
  rule_id text,
  platform text,
  -- Up to where the matches are acknowledged, as a cursor holds it; null: nothing yet, from the oldest one on.
  place text,
  created_at timestamptz not null default now(),
  acknowledged_at timestamptz,
  primary key (account_id, name)
);

-- webhooks ---------------------------------------------------------------------------------------------------------

-- Each endpoint is a reader of the match log. It does not refer to accounts, for the reason that audit does not.
create table webhooks (
  id text primary key,
  account_id text not null,
  name text not null,
  url text not null,
  rule_id text,
  platform text,
  state text not null check (state in ('active', 'paused', 'disabled')),
  disabled_because text,
  -- Everything up to here was delivered, parked, or is not for this webhook.
  position bigint not null,
  -- Grows when the webhook is set back or its filter changes: what was under way then counts for nothing.
  epoch integer not null default 0,
  -- Matches behind the position that were refused alone. Parked as soon as a later one is accepted.
  suspects bigint[] not null default '{}',
  -- Matches in the next batch: smaller while a refused batch is being split.
  batch_max integer not null,
  failures integer not null default 0,
  failing_since timestamptz,
  next_attempt_at timestamptz not null,
  -- It failed or was slow at the last attempt: only some of the senders serve such endpoints.
  troubled boolean not null default false,
  -- AES-256-GCM; the key is in the configuration only.
  secret bytea not null,
  previous_secret bytea,
  previous_secret_until timestamptz,
  -- Who is sending; nobody else does until then.
  lease text,
  lease_until timestamptz not null default '-infinity',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (account_id, name)
);
create index webhooks_due on webhooks (next_attempt_at) where state = 'active';

-- The batch that is on its way: the bytes of every attempt are these.
create table webhook_batches (
  webhook_id text primary key references webhooks (id) on delete cascade,
  message_id text not null,
  first_position bigint not null,
  last_position bigint not null,
  match_count integer not null,
  attempts integer not null default 0,
  body text compression lz4 not null
);

-- One row per attempt, and one per match that was parked.
create table deliveries (
  id text primary key,
  webhook_id text not null,
  message_id text,
  first_position bigint not null,
  last_position bigint not null,
  match_count integer not null,
  attempt integer,
  outcome text not null,
  status integer,
  latency_ms integer,
  detail text,
  response text,
  at timestamptz not null default now()
);
create index deliveries_by_webhook on deliveries (webhook_id, id desc);
create index deliveries_not_delivered on deliveries (webhook_id, outcome, id desc) where outcome <> 'delivered';
create index deliveries_by_age on deliveries (at);
