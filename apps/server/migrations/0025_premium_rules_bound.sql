-- compatible with 0008_incarnations.sql

-- Whether an account may have one more premium rule, without counting all of its rules for each. The bound is never below their
-- number: it grows with each rule that is added, under the account's row lock, and rules that go leave it as it is. Only when
-- it reaches the maximum are the rules counted again.
alter table accounts add column premium_rules_bound bigint;
grant update (premium_rules_bound) on accounts to earshot_rules;

-- As before, and whoever asks may add one.
create or replace function count_rules_on(wanted_platforms text[], account text) returns bigint language plpgsql volatile as $$
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
grant execute on function premium_rules_reached to earshot_rules, earshot_runtime;
