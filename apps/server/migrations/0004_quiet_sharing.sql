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
