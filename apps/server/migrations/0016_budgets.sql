-- compatible with 0008_incarnations.sql
-- What may be spent (src/costs/watch-budgets.ts). A budget belongs to the row that it is for, as
-- {"period", "usd" or "matches", "on_reached"}.

alter table rules
  add column budget json,
  -- Why the service itself has paused the rule, `budget`; null when somebody did, or it has expired.
  add column paused_for text,
  -- When its budgets are to be looked at although nothing was matched: one of them was changed, the rule was resumed, or its next
  -- period begins.
  add column budget_look_at timestamptz;
create index rules_budget_look on rules (budget_look_at)
  where budget_look_at is not null and state in ('active', 'failed', 'paused');

alter table accounts add column budget json;
alter table api_keys
  add column budget json,
  -- The key whose budget it spends: its own, or the one that it was made with.
  add column spends_from text;
create index api_keys_spending on api_keys (spends_from) where spends_from is not null;
-- The rules that a key has created, also those that are gone: what they cost was spent.
create index audit_creations on audit (actor, target_id) where operation = 'CreateRule';

-- What was told of a budget: once per budget, period and threshold, by whichever node finds out first.
create table budget_marks (
  account_id text not null,
  subject_kind text not null check (subject_kind in ('rule', 'key', 'account')),
  subject_id text not null,
  type text not null,
  -- The budget, the start of the period, and what else tells two notices apart.
  key text not null,
  -- Null: the budget has no next period.
  ends_at timestamptz,
  resolved_at timestamptz,
  primary key (subject_kind, subject_id, type, key)
);
create index budget_marks_open on budget_marks (ends_at) where resolved_at is null;

alter table budget_marks enable row level security;
create policy all_rows on budget_marks to earshot_runtime using (true);
grant select, insert, update on budget_marks to earshot_runtime;
