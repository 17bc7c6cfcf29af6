-- What one account may use of a source: see src/slots/fair-share.sql.ts. Written by the node that has the source's credential,
-- read by whoever places a slot. Without a limit of calls only the capacity is shared out.
alter table sources
  add column account_share double precision not null default 1,
  add column calls_bucket text,
  add column calls_max integer,
  add column calls_window_ms double precision,
  add column rules_per_call integer not null default 1;

-- For whom a call was made: the account of each slot that it registered. Empty for removals and comparisons.
alter table upstream_calls add column accounts text[] not null default '{}';

-- How much of each source on which a new slot can be placed the account uses, and how much everybody does. A slot whose
-- registration waits is a call to come. Its own slots are counted only when the platform is full enough for it to matter:
-- an account may have very many. As the owner, because calls and waiting slots are not the account's to read.
create function account_use(account text, wanted_platform text)
returns table (source_id text, share double precision, capacity integer, slots integer, own_slots bigint,
  calls_max integer, calls bigint, own_calls double precision, own_waiting bigint, rules_per_call integer,
  own_call_ends_ms double precision)
language plpgsql stable security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
begin
  return query with placeable as (
    select * from sources where platform = wanted_platform and enabled
  ), total as (
    select sum(placeable.slots) >= min(account_share) * sum(placeable.capacity) as is_narrow from placeable
  )
  select s.id, s.account_share, s.capacity, s.slots,
    case when (select is_narrow from total) then (
      select count(distinct slot_id) from slot_holders
      where slot_holders.account_id = account and slot_holders.platform = wanted_platform
    ) end,
    case when s.account_share < 1 then s.calls_max end, coalesce(made.calls, 0), coalesce(made.own, 0),
    -- The inner limit makes it one index look-up per slot.
    (select count(*) from slots waiting join lateral (
       select 1 from slot_holders h
       where h.account_id = account and h.platform = wanted_platform and h.slot_id = waiting.id limit 1
     ) held on true
     where waiting.source_id = s.id and waiting.state = 'wanted'),
    s.rules_per_call, made.own_ends_ms
  from placeable s
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
