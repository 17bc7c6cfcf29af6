-- Who asks for what: accounts, rules and their slots upstream. The three first files are the whole schema, by the
-- folders of apps/server/src. Forward only: a later change is a new file.

-- engines ----------------------------------------------------------------------------------------------------------

create table installation (
  only_row boolean primary key default true check (only_row),
  -- Part of every tag we set upstream: `earshot:<installation>:<slot>`. Rules with another one are not ours.
  id text not null,
  -- Signs cursors; every node of the installation must agree on it.
  cursor_secret bytea not null
);
insert into installation (id, cursor_secret) values (
  substr(replace(gen_random_uuid()::text, '-', ''), 1, 12),
  decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex')
);

create table leases (
  name text primary key,
  holder text not null,
  epoch bigint not null,
  expires_at timestamptz not null
);

-- accounts ---------------------------------------------------------------------------------------------------------

create table accounts (
  id text primary key,
  name text not null,
  plan text not null,
  created_at timestamptz not null default now()
);

create table api_keys (
  id text primary key,
  account_id text not null references accounts (id),
  -- SHA-256 of the key: a random key of 190 bits needs no slow hash, and the key itself is never stored.
  hash bytea not null unique,
  display text not null,
  scopes text[] not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz
);
create index api_keys_by_account on api_keys (account_id);

-- The next two do not refer to accounts: the reference would lock the account's row at the end of transactions that
-- already hold slots, and a creation locks in the other order.

-- The answers of changes that were sent with an Idempotency-Key, for 24 hours.
create table idempotency_keys (
  account_id text not null,
  operation text not null,
  key text not null,
  -- SHA-256 of the canonical request: the key belongs to this request and to no other.
  fingerprint bytea not null,
  -- Who runs it. Only the present attempt may store an answer, so one that was given up for dead cannot take effect.
  attempt text not null,
  lease_until timestamptz not null,
  -- The body as it was sent; null while the first attempt runs.
  answer text,
  created_at timestamptz not null default now(),
  primary key (account_id, operation, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);

create table audit (
  id text primary key,
  account_id text not null,
  -- The id of the key, or `operator`.
  actor text not null,
  operation text not null,
  target_id text not null,
  before jsonb,
  after jsonb,
  request_id text,
  created_at timestamptz not null default now()
);
create index audit_by_account on audit (account_id, id desc);

create function refuse_change_of_audit() returns trigger language plpgsql as $$
begin
  raise exception 'the audit is append only';
end $$;
create trigger audit_is_append_only before update or delete or truncate on audit
  for each statement execute function refuse_change_of_audit();

-- rules ------------------------------------------------------------------------------------------------------------

create table rules (
  id text primary key,
  account_id text not null references accounts (id),
  name text not null,
  intent text not null,
  -- `creating` is not listed and is undone when its creator died; `deleted` is a tombstone until its matches are purged.
  state text not null check (state in ('creating', 'active', 'paused', 'failed', 'deleted')),
  version integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  -- Paused by itself from then on.
  expires_at timestamptz,
  -- A change that waits for the upstreams: the version it leads to, and since when. Undone when its process died.
  changing_to integer,
  changing_since timestamptz,
  -- Items that tell what the rule is for. Only ever written and answered as a whole: `json` keeps the caller's order.
  examples json,
  -- Who keeps the rule as code. A pair has one rule at a time, also while that is being created: two runs of the same
  -- file, or one that is sent again, cannot make a second rule.
  managed_set text,
  managed_key text
);
create index rules_by_account on rules (account_id, id desc);
create index rules_creating on rules (created_at) where state = 'creating';
create index rules_deleted on rules (deleted_at) where state = 'deleted';
create index rules_expiring on rules (expires_at) where expires_at is not null and state in ('active', 'failed');
create index rules_changing on rules (changing_since) where changing_to is not null;
create index rules_paused on rules (account_id) where state = 'paused';
create unique index rules_managed on rules (account_id, managed_set, managed_key)
  where managed_set is not null and state <> 'deleted';

create table rule_versions (
  rule_id text not null references rules (id) on delete cascade,
  version integer not null,
  platform text not null,
  value text not null,
  translated_value text not null,
  slot_id text not null,
  primary key (rule_id, version, platform)
);

-- slots ------------------------------------------------------------------------------------------------------------

create table sources (
  id text primary key,
  platform text not null,
  -- How many rules the upstream takes on this credential: the smaller one of what is configured and what was learnt.
  capacity integer not null,
  configured_capacity integer not null default 2147483647,
  -- Null until the upstream says something.
  learnt_capacity integer,
  learnt_at timestamptz,
  -- How many slots it has. Kept by triggers, see below.
  slots integer not null default 0,
  -- False once no node is configured with it any more: nothing new is placed on it.
  enabled boolean not null default true,
  -- The stream is up until then, unless somebody proves more: after a crash it runs out by itself.
  live_until timestamptz not null default now(),
  -- When the upstream's rule list was last read: a rule that is missing later was there until then.
  rules_seen_at timestamptz,
  -- What its connection is doing, for people. Only as fresh as `live_until` says: a dead process writes nothing.
  state text not null default 'starting',
  state_since timestamptz not null default now(),
  -- The upstream's words, or ours.
  state_detail text,
  next_attempt_at timestamptz,
  -- What the stream usually brings: a new holder of the source must notice when it went quiet.
  usual_per_minute double precision,
  updated_at timestamptz not null default now()
);

create table slots (
  id text primary key,
  platform text not null,
  source_id text not null references sources (id),
  value text not null,
  value_hash bytea not null,
  -- See src/slots/slot.ts for the life of a slot.
  state text not null check (state in ('wanted', 'registered', 'releasing', 'deleting', 'failed')),
  upstream_rule_id text,
  -- The upstream rule existed before we asked for it and bears a foreign tag: used, never deleted.
  foreign_rule boolean not null default false,
  -- The upstream's words: why it refused, or what keeps a wanted slot waiting.
  problem text,
  problem_kind text,
  created_at timestamptz not null default now(),
  -- `registered_at` is the first time, `confirmed_at` the latest.
  registered_at timestamptz,
  confirmed_at timestamptz,
  -- The source that still serves a slot until its new one does.
  moved_from text,
  -- A slot that was registered once has rules that rely on it: a refusal is not the end.
  attempts integer not null default 0,
  retry_at timestamptz,
  unique (platform, value_hash)
);
create index slots_with_work on slots (source_id, created_at) where state in ('wanted', 'releasing');
create index slots_by_upstream_rule on slots (source_id, upstream_rule_id);
create index slots_by_source on slots (source_id);
create index slots_by_former_source on slots (moved_from) where moved_from is not null;
create index slots_to_retry on slots (source_id, retry_at) where state = 'failed' and retry_at is not null;

-- Who holds a slot. Account, platform and version stand here so that an event finds its rules with one look-up
-- and an account's premium rules are counted without reading all of its rules.
create table slot_holders (
  slot_id text not null references slots (id),
  rule_id text not null references rules (id) on delete cascade,
  account_id text not null,
  platform text not null,
  rule_version integer not null,
  -- Held for a change that is not applied yet: its events are not the rule's.
  pending boolean not null default false,
  -- Coverage of a rule on a slot that others hold longer begins here.
  since timestamptz default now(),
  -- Held for an older version until then, because the new upstream rule takes time to become effective.
  release_at timestamptz,
  primary key (slot_id, rule_id)
);
create index slot_holders_by_rule on slot_holders (rule_id);
-- Finds an account's rules on one slot without reading everybody's: a popular slot has thousands of holders. Counting
-- an account's premium rules needs nothing else, so it reads the index alone.
create index slot_holders_by_account on slot_holders (account_id, platform, slot_id, rule_id);
create index slot_holders_to_release on slot_holders (release_at) where release_at is not null;

-- Rule calls of the last window, written before each call: a new holder of a source knows what its predecessor spent.
create table upstream_calls (
  source_id text not null,
  bucket text not null,
  called_at timestamptz not null default clock_timestamp()
);
create index upstream_calls_by_source on upstream_calls (source_id, bucket, called_at);

-- How many rules an account has on these platforms, counted under its row lock. A function, because each of its
-- statements sees what was committed before it, also inside of a larger statement: the count would else be older than the
-- lock. Not `for update`: rows that refer to the account would have to wait, perhaps while they hold slots.
create function count_rules_on(wanted_platforms text[], account text) returns bigint language plpgsql volatile as $$
begin
  perform 1 from accounts where id = account for no key update;
  return (
    select count(*) from (
      select rule_id from slot_holders where account_id = account and platform = any(wanted_platforms)
      union
      select rules.id from rules join rule_versions v on v.rule_id = rules.id and v.version = rules.version
      where rules.account_id = account and rules.state = 'paused' and v.platform = any(wanted_platforms)
    ) as counted);
end $$;

-- How many slots a source has, without counting them for each new one. `sources.slots` grows under the row lock that
-- whoever places a slot holds. Those who remove slots hold other locks, and would wait for this one in the wrong order:
-- they leave a note in `slot_departures`, which the next one who places a slot takes off. Triggers, so that nobody can
-- forget it.
create table slot_departures (source_id text not null, slots integer not null);

create function count_new_slots() returns trigger language plpgsql as $$
begin
  update sources set slots = sources.slots + placed.slots
  from (select source_id, count(*) as slots from new_slots group by source_id) as placed
  where sources.id = placed.source_id;
  return null;
end $$;
create trigger slots_are_counted after insert on slots referencing new table as new_slots
  for each statement execute function count_new_slots();

create function note_old_slots() returns trigger language plpgsql as $$
begin
  insert into slot_departures select source_id, count(*) from old_slots group by source_id;
  return null;
end $$;
create trigger departures_are_noted after delete on slots referencing old table as old_slots
  for each statement execute function note_old_slots();

create function count_moved_slot() returns trigger language plpgsql as $$
begin
  insert into slot_departures values (old.source_id, 1);
  update sources set slots = slots + 1 where id = new.source_id;
  return null;
end $$;
create trigger moves_are_counted after update of source_id on slots for each row
  when (old.source_id is distinct from new.source_id) execute function count_moved_slot();

-- Locks the sources on which slots of a platform can be placed, brings their counts up to date, and returns
-- their capacities.
create function lock_sources(wanted_platform text)
returns table (source_capacity integer) language plpgsql volatile as $$
begin
  perform 1 from sources where platform = wanted_platform and enabled order by id for no key update;
  with taken as (
    delete from slot_departures gone using sources
    where sources.id = gone.source_id and sources.platform = wanted_platform and sources.enabled
    returning gone.source_id as id, gone.slots
  ), summed as (
    select taken.id, sum(taken.slots) as slots from taken group by taken.id
  )
  update sources set slots = sources.slots - summed.slots from summed where sources.id = summed.id;
  return query select capacity from sources where platform = wanted_platform and enabled;
end $$;
