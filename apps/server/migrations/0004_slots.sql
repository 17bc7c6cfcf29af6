-- Upstream credentials (sources), the upstream rules on them (slots), and the rules that hold each slot.

create table sources (
  id text primary key,
  platform text not null,
  -- How many rules the upstream takes on this credential: the smaller of what is configured and what was learnt.
  capacity integer not null,
  configured_capacity integer not null default 2147483647,
  -- Null until the upstream reports a limit.
  learnt_capacity integer,
  learnt_at timestamptz,
  -- How many slots it has. Maintained by triggers, see slot_departures.
  slots integer not null default 0,
  -- False when no node is configured with it: nothing new is placed on it.
  enabled boolean not null default true,
  -- The stream counts as up until then. After a crash this time passes without a write.
  live_until timestamptz not null default now(),
  -- When the upstream's rule list was last read: a rule that is missing later existed until then.
  rules_seen_at timestamptz,
  -- How long the platform takes to apply a new rule.
  rule_delay_ms integer not null default 0,
  -- The state of its connection, for people. Only as fresh as `live_until`: a dead process writes nothing.
  state text not null default 'starting',
  state_since timestamptz not null default now(),
  -- The upstream's message, or ours.
  state_detail text,
  next_attempt_at timestamptz,
  -- The stream's usual rate, by which a new holder of the source notices that it went quiet.
  usual_per_minute double precision,
  -- What one account may use of the source (src/slots/fair-share.sql.ts). Written by the node with the credential, read when a slot
  -- is placed. Without a call limit only the capacity is shared.
  account_share double precision not null default 1,
  calls_bucket text,
  calls_max integer,
  calls_window_ms double precision,
  rules_per_call integer not null default 1,
  updated_at timestamptz not null default now()
);

create table slots (
  id text primary key,
  platform text not null,
  source_id text not null references sources (id),
  value text not null,
  options json not null default '{}',
  value_hash bytea not null,
  -- src/slots/slot.ts has the state machine.
  state text not null check (state in ('wanted', 'registered', 'releasing', 'deleting', 'failed')),
  upstream_rule_id text,
  -- The upstream rule existed before and has a foreign tag: used, never deleted.
  foreign_rule boolean not null default false,
  -- The upstream's message: why it refused, or what a wanted slot waits for.
  problem text,
  problem_kind text,
  created_at timestamptz not null default now(),
  -- The first and the latest registration.
  registered_at timestamptz,
  confirmed_at timestamptz,
  -- The source that serves a moved slot until its new source does, and the upstream rule there. Events in flight still name it.
  moved_from text,
  moved_rule_id text,
  -- Its last rule was stopped by a budget: its upstream rule is removed first, with calls that are reserved for this.
  stopped boolean not null default false,
  -- A slot that was registered once has rules that rely on it, so a refusal is retried.
  attempts integer not null default 0,
  retry_at timestamptz,
  unique (platform, value_hash)
);
create index slots_with_work on slots (source_id, created_at) where state in ('wanted', 'releasing');
create index slots_by_upstream_rule on slots (source_id, upstream_rule_id);
create index slots_by_source on slots (source_id);
create index slots_by_former_source on slots (moved_from) where moved_from is not null;
create index slots_by_moved_rule on slots (moved_from, moved_rule_id) where moved_rule_id is not null;
create index slots_to_retry on slots (source_id, retry_at) where state = 'failed' and retry_at is not null;
-- Every node queries every ten seconds since when a source has rules to receive for.
create index slots_registered_since on slots (source_id, coalesce(registered_at, created_at)) where state = 'registered';

-- Which rules hold a slot. Account, platform and version are copied here so that an event finds its rules with one lookup, and an
-- account's premium rules are counted without reading all of its rules.
create table slot_holders (
  slot_id text not null references slots (id),
  rule_id text not null references rules (id) on delete cascade,
  account_id text not null,
  platform text not null,
  rule_version integer not null,
  -- Held for a change that is not applied yet: its events do not belong to the rule.
  pending boolean not null default false,
  -- A search in a gap before this moment finds nothing for the rule.
  since timestamptz default now(),
  -- When this rule held the slot and the upstream had its rule. Null until the slot is registered.
  served_since timestamptz,
  -- When the platform applies the upstream rule for this holder: `rule_delay_ms` after the registration, or at once.
  applied_from timestamptz,
  -- Held for an earlier version of the rule until then, because the platform takes time to apply the new upstream rule.
  release_at timestamptz,
  primary key (slot_id, rule_id)
);
create index slot_holders_by_rule on slot_holders (rule_id);
-- Finds an account's rules on one slot, and counts its premium rules, from the index alone: a popular slot has thousands of holders.
create index slot_holders_by_account on slot_holders (account_id, platform, slot_id, rule_id);
create index slot_holders_to_release on slot_holders (release_at) where release_at is not null;

-- Rule calls in the last window, written before each call: a new holder of the source knows what its predecessor spent.
create table upstream_calls (
  source_id text not null,
  bucket text not null,
  called_at timestamptz not null default clock_timestamp(),
  -- The account of each slot that the call registered. Empty for removals and comparisons.
  accounts text[] not null default '{}'
);
create index upstream_calls_by_source on upstream_calls (source_id, bucket, called_at);

-- Counts an account's rules on these platforms under its row lock, and reserves one more. A function, because each of its statements
-- sees what was committed before it, also inside a larger statement: otherwise the count would be older than the lock. Not `for
-- update`: rows that reference the account would wait, perhaps while they hold slots.
create function count_rules_on(wanted_platforms text[], account text) returns bigint language plpgsql volatile as $$
declare
  used bigint;
begin
  perform 1 from accounts where id = account for no key update;
  select count(*) into used from (
    select rule_id from slot_holders where account_id = account and platform = any(wanted_platforms)
    union
    select rules.id from rules join rule_versions v on v.rule_id = rules.id and v.version = rules.version
    where rules.account_id = account and rules.state = 'paused' and v.platform = any(wanted_platforms)
  ) as counted;
  update accounts set premium_rules_bound = used + 1 where id = account;
  return used;
end $$;

-- How many premium rules the account has if that is the maximum or more; null if the caller may add one.
create function premium_rules_reached(premium_platforms text[], account text, rules_max bigint) returns bigint
language plpgsql volatile as $$
declare
  used bigint;
begin
  update accounts set premium_rules_bound = premium_rules_bound + 1 where id = account and premium_rules_bound < rules_max;
  if found then
    return null;
  end if;
  used := count_rules_on(premium_platforms, account);
  return case when used >= rules_max then used end;
end $$;

-- `sources.slots` counts the slots of a source, so that placing one does not. It grows under the row lock of the transaction that
-- places a slot. Transactions that remove slots hold other locks, and taking this one would invert the order: they write to
-- `slot_departures`, and the next placement subtracts that. Triggers, so that no statement can forget it.
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

-- Locks the sources on which slots of a platform can be placed, brings their counts up to date, and returns their capacities.
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

-- How much of each source on which a slot can be placed the account uses, and how much all accounts do. A slot whose registration
-- waits counts as a future call. A slot that several accounts hold counts for each of them. Slots are counted only when the platform is full
-- enough for a refusal, because an account may have very many. Runs as the owner: calls and waiting slots are not visible to the account.
create function account_use(account text, wanted_platform text)
returns table (source_id text, share double precision, capacity integer, slots integer, own_slots bigint,
  calls_max integer, calls bigint, own_calls double precision, own_waiting bigint,
  rules_per_call integer, own_call_ends_ms double precision)
language plpgsql stable security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
begin
  return query with placeable as (
    select * from sources where platform = wanted_platform and enabled
  ), total as (
    select min(account_share) < 1 and
      sum(placeable.slots) >= min(account_share) * sum(placeable.capacity) as is_narrow
    from placeable
  ), own as (
    select held.source_id, count(distinct held.id) as slots from slot_holders h join slots held on held.id = h.slot_id
    where h.account_id = account and h.platform = wanted_platform and (select is_narrow from total)
    group by held.source_id
  )
  select s.id, s.account_share, s.capacity, s.slots,
    case when total.is_narrow then coalesce(own.slots, 0) end,
    case when s.account_share < 1 then s.calls_max end, coalesce(made.calls, 0), coalesce(made.own, 0),
    -- The inner limit makes it one index lookup per slot.
    (select count(*) from slots waiting join lateral (
       select 1 from slot_holders h
       where h.account_id = account and h.platform = wanted_platform and h.slot_id = waiting.id limit 1
     ) held on true
     where waiting.source_id = s.id and waiting.state = 'wanted'),
    s.rules_per_call, made.own_ends_ms
  from placeable s cross join total left join own on own.source_id = s.id
  left join lateral (
    select count(*) as calls,
      sum(cardinality(array_positions(c.accounts, account))::float8 / greatest(1, cardinality(c.accounts))) as own,
      (extract(epoch from min(c.called_at) filter (where account = any(c.accounts)) - clock_timestamp()) * 1000)::float8
        + s.calls_window_ms as own_ends_ms
    from upstream_calls c
    where c.source_id = s.id and c.bucket = s.calls_bucket
      and c.called_at > clock_timestamp() - s.calls_window_ms * interval '1 ms'
  ) made on true;
end $$;
