-- Forward only. A later change is a new file; this one never changes again.

-- An interval knows the gap that its opening ended, and what was done about what was missed in it.
alter table coverage add column gap_from timestamptz;
alter table coverage add column gap_because text;
-- Null: nothing is decided yet. `partly`: some slots were repaired, see gap_repairs. `none`: nothing can be done.
alter table coverage add column repair text check (repair in ('under_way', 'repaired', 'partly', 'none'));
alter table coverage add column repair_via text;
alter table coverage add column repair_because text;

-- Until now a gap on firehose counted as repaired by its replay, and one on x could not be repaired.
update coverage set gap_from = before.proven_until, gap_because = coalesce(before.ended_because, 'process_died'),
  repair = case when sources.platform = 'firehose' and coverage.from_at - before.proven_until < interval '23 hours'
    then 'repaired' else 'none' end,
  repair_via = case when sources.platform = 'firehose' then 'replay' end,
  repair_because = case when sources.platform = 'x' then 'too_old' end
from (
  select id, source_id, lag(proven_until) over mine as proven_until, lag(ended_because) over mine as ended_because
  from coverage window mine as (partition by source_id order by from_at)
) as before join sources on sources.id = before.source_id
where before.id = coverage.id and before.proven_until < coverage.from_at;

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

-- Since when, and until when, a source had a slot's rule upstream. After a move both sources serve for a while.
create table slot_services (
  slot_id text not null,
  source_id text not null,
  from_at timestamptz not null,
  to_at timestamptz
);
create index slot_services_by_slot on slot_services (slot_id, from_at);
create index slot_services_by_source on slot_services (source_id, slot_id);

insert into watches (rule_id, account_id, platform, slot_id, from_at)
select slot_holders.rule_id, slot_holders.account_id, slot_holders.platform, slot_holders.slot_id,
  coalesce(slot_holders.since, slots.registered_at, slots.created_at)
from slot_holders join slots on slots.id = slot_holders.slot_id where not slot_holders.pending;
insert into slot_services (slot_id, source_id, from_at)
select id, source_id, registered_at from slots where registered_at is not null;

-- The history outlives the slot; it goes with the matches' retention.
alter table slot_gaps drop constraint slot_gaps_slot_id_fkey;

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
    -- The former source keeps its rule until X heeds the new one.
    update slot_services set to_at = now() + interval '20 seconds'
    where slot_id = new.id and source_id <> new.source_id and to_at is null;
  elsif new.state = 'deleting' or (tg_op = 'UPDATE' and new.registered_at is null and old.registered_at is not null) then
    update slot_services set to_at = now() where slot_id = new.id and to_at is null;
  end if;
  return null;
end $$;
create trigger services_follow_slots after insert or delete or update of state, source_id, registered_at on slots
  for each row execute function record_service();

alter table matches add column via text not null default 'stream';

-- Whatever was in the event log at this time has been matched. Not in match_log, whose row every commit locks.
create table match_progress (
  only_row boolean primary key default true check (only_row),
  matched_through timestamptz not null
);
insert into match_progress (matched_through) values (now());
