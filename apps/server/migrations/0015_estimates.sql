-- compatible with 0008_incarnations.sql

-- What previews of rules rest on (src/costs).

-- The account's own rule that has had a value for longest, by the hash of the value, which accounts cannot read
-- (0006_quiet_sharing.sql). By the account's holders: how many others hold the slot must not even take time.
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
revoke all on function own_rule_with from public;
grant execute on function own_rule_with to earshot_account;
