-- Forward only. A later change is a new file; this one never changes again.

-- Items that tell what the rule is for. Only ever written and answered as a whole: `json` keeps the caller's order.
alter table rules add column examples json;

-- Who keeps the rule as code. A pair has one rule at a time, also while that is being created: two runs of the same
-- file, or one that is sent again, cannot make a second rule.
alter table rules add column managed_set text;
alter table rules add column managed_key text;
create unique index rules_managed on rules (account_id, managed_set, managed_key)
  where managed_set is not null and state <> 'deleted';
