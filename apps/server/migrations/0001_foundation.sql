-- Forward only. A later change is a new file; this one never changes again.

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
  deleted_at timestamptz
);
create index rules_by_account on rules (account_id, id desc);
create index rules_creating on rules (created_at) where state = 'creating';
create index rules_deleted on rules (deleted_at) where state = 'deleted';

create table sources (
  id text primary key,
  platform text not null check (platform in ('x', 'firehose')),
  -- How many rules the upstream takes on this credential.
  capacity integer not null,
  -- False once no node is configured with it any more: nothing new is placed on it.
  enabled boolean not null default true,
  -- The stream is up until then, unless somebody proves more: after a crash it runs out by itself.
  live_until timestamptz not null default now(),
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
  registered_at timestamptz,
  unique (platform, value_hash)
);
create index slots_with_work on slots (source_id, created_at) where state in ('wanted', 'releasing');
create index slots_by_upstream_rule on slots (source_id, upstream_rule_id);
create index slots_by_source on slots (source_id);

create table rule_versions (
  rule_id text not null references rules (id) on delete cascade,
  version integer not null,
  platform text not null,
  value text not null,
  translated_value text not null,
  slot_id text not null,
  primary key (rule_id, version, platform)
);

-- Who holds a slot. Account, platform and version stand here so that an event finds its rules with one look-up
-- and an account's premium rules are counted without reading all of its rules.
create table slot_holders (
  slot_id text not null references slots (id),
  rule_id text not null references rules (id) on delete cascade,
  account_id text not null,
  platform text not null,
  rule_version integer not null,
  primary key (slot_id, rule_id)
);
create index slot_holders_by_rule on slot_holders (rule_id);
create index slot_holders_by_account on slot_holders (account_id, platform);

create table leases (
  name text primary key,
  holder text not null,
  epoch bigint not null,
  expires_at timestamptz not null
);

-- Times in which a source was listening. Whatever is not inside a row is a gap.
create table coverage (
  id bigint generated always as identity primary key,
  source_id text not null,
  from_at timestamptz not null,
  -- Grows while the stream is up: after a crash it is the last proven moment.
  proven_until timestamptz not null,
  -- Null while open, and for ever when the process died.
  ended_because text
);
create index coverage_by_source on coverage (source_id, from_at);

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
  primary key (rule_id, event_key, event_day)
) partition by range (event_day);
create index matches_by_account on matches (account_id, position);
create index matches_by_rule on matches (rule_id, position);

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
