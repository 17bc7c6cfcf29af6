-- An account must not learn that another one watches the same value: ids and times of a shared slot are each holder's own.

-- What the rule's account is shown instead of the upstream's id, which is the same for all who share the slot and tells
-- since when it exists. Random, and not derived from the slot: after a deletion or a pause the same id as before
-- would tell that somebody else had kept the slot.
alter table rule_versions add column platform_rule_id text not null default gen_random_uuid()::text;
-- In the form of X's ids: digits.
update rule_versions
  set platform_rule_id = '1' || left(translate(gen_random_uuid()::text, 'abcdef-', '012345'), 18)
  where platform = 'x';

-- Since when the slot's source serves this holder; null until its registrar has said so. A registrar says so of a slot
-- that was registered before as late as of a new one (src/slots/registrar-steps.ts).
alter table slot_holders add column served_since timestamptz;
update slot_holders set served_since = greatest(slot_holders.since, slots.registered_at)
  from slots where slots.id = slot_holders.slot_id and slots.registered_at is not null;
create index slot_holders_not_served on slot_holders (slot_id) where served_since is null;

-- A rule is watched once it is served, not since it asked.
create or replace function record_watch() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    update watches set to_at = now() where slot_id = old.slot_id and rule_id = old.rule_id and to_at is null;
  elsif not new.pending and new.served_since is not null
    and (tg_op = 'INSERT' or old.pending or old.served_since is null) then
    insert into watches (rule_id, account_id, platform, slot_id, from_at)
    values (new.rule_id, new.account_id, new.platform, new.slot_id, now());
  end if;
  return null;
end $$;
drop trigger watches_follow_holders on slot_holders;
create trigger watches_follow_holders after insert or delete or update of pending, served_since on slot_holders
  for each row execute function record_watch();

-- Accounts that have left a slot, until the registrar has removed its upstream rule. When others hold it nothing is removed, but
-- the time and the calls of a removal pass all the same (src/slots/quiet-sharing.sql.ts).
create table slot_leavings (
  slot_id text not null references slots (id) on delete cascade,
  account_id text not null,
  left_at timestamptz not null default now(),
  primary key (slot_id, account_id)
);
create index slot_leavings_by_account on slot_leavings (account_id);

-- As in 0004_fair_shares.sql, but for what others hold too, which costs the account as much as what it has alone: it counts
-- among the slots of the account and among those of the others (`others_slots`), and is a call to come until the account is
-- served. A slot that an account has left counts for it until it is removed. The slots are counted only when the platform is
-- full enough for a refusal: neither the own ones nor those of the others can be more than all.
drop function account_use;
create function account_use(account text, wanted_platform text)
returns table (source_id text, share double precision, capacity integer, slots integer, own_slots bigint,
  others_slots bigint, calls_max integer, calls bigint, own_calls double precision, own_waiting bigint,
  rules_per_call integer, own_call_ends_ms double precision)
language plpgsql stable security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
begin
  return query with placeable as (
    select * from sources where platform = wanted_platform and enabled
  ), total as (
    select sum(placeable.slots) as slots, min(account_share) < 1 and
      sum(placeable.slots) * (1 + min(account_share)) >= min(account_share) * sum(placeable.capacity) as is_narrow
    from placeable
  ), own as (
    select slot_id from slot_holders
    where slot_holders.account_id = account and platform = wanted_platform and (select is_narrow from total)
    union
    select slot_id from slot_leavings join slots on slots.id = slot_id
    where slot_leavings.account_id = account and platform = wanted_platform and (select is_narrow from total)
  ), counted as (
    select count(*) as slots, count(*) filter (where slots.source_id in (select id from placeable)
      and not exists (select 1 from slot_holders where slot_id = own.slot_id and account_id <> account)
      and not exists (select 1 from slot_leavings where slot_id = own.slot_id and account_id <> account)) as alone
    from own join slots on slots.id = own.slot_id
  )
  select s.id, s.account_share, s.capacity, s.slots,
    case when total.is_narrow then counted.slots end, case when total.is_narrow then total.slots - counted.alone end,
    case when s.account_share < 1 then s.calls_max end, coalesce(made.calls, 0), coalesce(made.own, 0),
    -- The inner limit makes it one index look-up per slot.
    (select count(*) from slots waiting join lateral (
       select 1 from slot_holders h
       where h.account_id = account and h.platform = wanted_platform and h.slot_id = waiting.id limit 1
     ) held on true
     where waiting.source_id = s.id and waiting.state = 'wanted')
    + (select count(distinct h.slot_id) from slot_holders h join slots waiting on waiting.id = h.slot_id
       where h.account_id = account and h.served_since is null
         and waiting.source_id = s.id and waiting.state = 'registered'),
    s.rules_per_call, made.own_ends_ms
  from placeable s cross join total cross join counted
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

-- When a source had the slots of a rule, as far as the rule was served by them. What was before is not the account's to know.
create function watched_slots(wanted_rule text)
returns table (platform text, source_id text, slot_id text, from_at timestamptz, to_at timestamptz)
language sql stable security definer set search_path = public, pg_temp as $$
  select watches.platform, services.source_id, watches.slot_id, greatest(watches.from_at, services.from_at),
    least(watches.to_at, services.to_at)
  from watches join slot_services services on services.slot_id = watches.slot_id
  where watches.rule_id = wanted_rule and watches.account_id = current_setting('earshot.account')
    and (services.to_at is null or services.to_at > watches.from_at)
    and (watches.to_at is null or watches.to_at > services.from_at)
$$;

-- Who may do what, as in 0005_roles.sql. The age and the upstream rule of a slot would tell an account that others hold it.
revoke all on function account_use, watched_slots from public;
grant execute on function account_use to earshot_rules, earshot_runtime;
grant execute on function watched_slots to earshot_account;
revoke select on slots, slot_services from earshot_account;
grant select (id, platform, source_id, state) on slots to earshot_account;
grant select on slots to earshot_rules;
grant select on slot_leavings to earshot_account;
grant insert, delete on slot_leavings to earshot_rules;
alter table slot_leavings enable row level security;
create policy own_rows on slot_leavings to earshot_account using (account_id = current_setting('earshot.account'));
create policy shared on slot_leavings to earshot_rules using (true);
