-- The coverage ledger: when each source was listening, and when each rule was served. Ingest writes it.

-- Intervals in which a source was listening. Time outside all rows is a gap.
create table coverage (
  id bigint generated always as identity primary key,
  source_id text not null,
  from_at timestamptz not null,
  -- Grows while the stream is up. After a crash it is the last proven moment.
  proven_until timestamptz not null,
  -- The last byte of the stream. A silent stream is found after 25 s; if the process dies before that, the interval ends here.
  received_until timestamptz,
  -- Null while open, and for good if the process died.
  ended_because text,
  -- The gap before this interval, and what was done about it.
  gap_from timestamptz,
  gap_because text,
  -- Null: not decided yet. `partly`: some slots were repaired, see gap_repairs. `none`: nothing can be done.
  repair text check (repair in ('under_way', 'repaired', 'partly', 'none')),
  repair_via text,
  repair_because text
);
create index coverage_by_source on coverage (source_id, from_at);
create index coverage_to_repair on coverage (source_id, from_at)
  where gap_from is not null and (repair is null or repair = 'under_way');

-- The repair of one gap for one slot, page by page: after a crash the next holder continues with the next page.
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

-- When a rule held a slot for its current version. slot_holders has only the present.
create table watches (
  rule_id text not null references rules (id) on delete cascade,
  account_id text not null,
  platform text not null,
  slot_id text not null,
  from_at timestamptz not null,
  to_at timestamptz
);
create index watches_by_rule on watches (rule_id, from_at);
create index watches_by_account on watches (account_id, platform, from_at);
create index watches_open on watches (slot_id, rule_id) where to_at is null;

-- When a source had a slot's rule upstream. After a move both sources serve for a while: slots/slot-moving.sql.ts writes the end of the
-- former one, the trigger below everything else.
create table slot_services (
  slot_id text not null,
  source_id text not null,
  from_at timestamptz not null,
  to_at timestamptz
);
create index slot_services_by_slot on slot_services (slot_id, from_at);
create index slot_services_by_source on slot_services (source_id, slot_id);

-- When a registered slot had no rule upstream. The history outlives the slot and is removed with the matches.
create table slot_gaps (
  id bigint generated always as identity primary key,
  slot_id text not null,
  from_at timestamptz not null,
  to_at timestamptz
);
create index slot_gaps_by_slot on slot_gaps (slot_id, from_at);

-- Triggers, because slots are taken, left and moved in many places, and a forgotten line would make the ledger wrong unnoticed.
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

-- When a source had the slots of a rule while the rule held them, and from when the platform applied them. Earlier times belong to
-- other accounts.
create function watched_slots(wanted_rule text)
returns table (platform text, source_id text, slot_id text, from_at timestamptz, applied_from timestamptz, to_at timestamptz)
language sql stable security definer set search_path = public, pg_temp as $$
  select watches.platform, services.source_id, watches.slot_id, greatest(watches.from_at, services.from_at),
    greatest(watches.from_at, services.from_at + coalesce(sources.rule_delay_ms, 0) * interval '1 ms'),
    least(watches.to_at, services.to_at)
  from watches join slot_services services on services.slot_id = watches.slot_id
  left join sources on sources.id = services.source_id
  where watches.rule_id = wanted_rule and watches.account_id = current_setting('earshot.account')
    and (services.to_at is null or services.to_at > watches.from_at)
    and (watches.to_at is null or watches.to_at > services.from_at)
$$;

-- The account's rule that has had a query the longest, by the hash of the query, which accounts cannot read. Reads only the
-- account's holders, so the time it takes does not depend on other accounts.
create function own_rule_with(wanted_platform text, wanted_hash bytea)
returns table (rule_id text, from_at timestamptz)
language sql stable security definer set search_path = public, pg_temp as $$
  select watches.rule_id, watches.from_at from slots
  join slot_holders holders on holders.account_id = current_setting('earshot.account')
    and holders.platform = slots.platform and holders.slot_id = slots.id and not holders.pending
  join watches on watches.slot_id = slots.id and watches.rule_id = holders.rule_id and watches.to_at is null
  where slots.platform = wanted_platform and slots.value_hash = wanted_hash
  order by watches.from_at limit 1
$$;
