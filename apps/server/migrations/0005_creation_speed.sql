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
