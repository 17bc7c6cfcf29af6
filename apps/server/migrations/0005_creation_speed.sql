-- Forward only. A later change is a new file; this one never changes again.

-- Finds an account's rules on one slot without reading everybody's: a popular slot has thousands of holders. Counting
-- an account's premium rules needs nothing else, so it reads the index alone.
drop index slot_holders_by_account;
create index slot_holders_by_account on slot_holders (account_id, platform, slot_id, rule_id);

-- How many rules on `x` an account has, counted under its row lock. A function, because each of its statements sees
-- what was committed before it, also inside of a larger statement: the count would else be older than the lock.
-- Not `for update`: rows that refer to the account would have to wait, perhaps while they hold slots.
create function count_premium_rules(account text) returns bigint language plpgsql volatile as $$
begin
  perform 1 from accounts where id = account for no key update;
  return (
    select count(*) from (
      select rule_id from slot_holders where account_id = account and platform = 'x'
      union
      select rules.id from rules join rule_versions v on v.rule_id = rules.id and v.version = rules.version
      where rules.account_id = account and rules.state = 'paused' and v.platform = 'x'
    ) as premium);
end $$;

-- How many slots a source has, without counting them for each new one. `slots` grows under the row lock that whoever
-- places a slot holds. Those who remove slots hold other locks, and would wait for this one in the wrong order: they
-- leave a note in `slot_departures`, which the next one who places a slot takes off. Triggers, so that nobody can forget.
lock table slots in share row exclusive mode;
alter table sources add column slots integer not null default 0;
update sources set slots = (select count(*) from slots where source_id = sources.id);
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
