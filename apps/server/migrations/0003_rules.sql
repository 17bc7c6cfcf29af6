-- Rules, and their query per platform in each version.

create table rules (
  id text primary key,
  account_id text not null references accounts (id),
  name text not null,
  intent text not null,
  -- A rule in `creating` is not listed, and is undone if its creator died. `deleted` is a tombstone until its matches are purged.
  state text not null check (state in ('creating', 'active', 'paused', 'failed', 'deleted')),
  version integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  -- The key that created it; null for the operator.
  created_by text,
  -- The rule is paused automatically at this time.
  expires_at timestamptz,
  -- A change that waits for the upstreams: the version that it leads to, and its start. Undone if its process died.
  changing_to integer,
  changing_since timestamptz,
  -- Items that show what the rule is for. `json` keeps the caller's order.
  examples json,
  -- Set for rules that are kept as code. A pair has one rule at a time, even during creation, so two runs of the same file cannot
  -- create a second one.
  managed_set text,
  managed_key text,
  budget json,
  -- How the judge judges its matches. `judged_position` is the position of the last match that it is done with, and null for a rule that
  -- it does not judge.
  relevance json,
  judged_position bigint,
  -- How sensitively its spikes and drops are reported (0012_alerts.sql).
  alerts text check (alerts in ('low', 'medium', 'high')),
  -- Grows when the intent or the criteria change: earlier verdicts were about another question.
  intent_version integer not null default 1,
  -- The model and intent version with which the labelled matches were last judged.
  labels_judged_as text,
  -- Why the service paused the rule: `budget`, `default_budget` or `suspension`. Null if a caller did, or the rule expired.
  pause_reason text,
  -- When its budgets must be checked although nothing was matched: a budget changed, the rule was resumed, or a period begins.
  budget_check_at timestamptz,
  -- A rule that runs for a short time to measure what its queries match. `expires_at` and `budget` end it.
  trial boolean not null default false
);
create index rules_by_account on rules (account_id, id desc);
create index rules_creating on rules (created_at) where state = 'creating';
create index rules_deleted on rules (deleted_at) where state = 'deleted';
-- The rules that a list leaves out.
create index rules_hidden on rules (account_id) where state in ('creating', 'deleted');
create index rules_expiring on rules (expires_at) where expires_at is not null and state in ('active', 'failed');
create index rules_changing on rules (changing_since) where changing_to is not null;
create index rules_paused on rules (account_id) where state = 'paused';
create index rules_suspended on rules (account_id) where state = 'paused' and pause_reason = 'suspension';
create index rules_budget_check on rules (budget_check_at)
  where budget_check_at is not null and state in ('active', 'failed', 'paused');
create index rules_trials on rules (account_id) where trial;
create index rules_judged on rules (id) where judged_position is not null;
create index rules_alerting on rules (id) where alerts is not null;
create unique index rules_managed on rules (account_id, managed_set, managed_key)
  where managed_set is not null and state <> 'deleted';

create table rule_versions (
  rule_id text not null references rules (id) on delete cascade,
  version integer not null,
  platform text not null,
  value text not null,
  translated_value text not null,
  -- What the rule sets beside its query where that differs from the platform's default. Part of what identifies a slot.
  -- `json` keeps the text, sorted by name.
  options json not null default '{}',
  slot_id text not null,
  -- Shown to the account instead of the upstream's id, which all rules on the slot share. Random for each version: the same id
  -- after a pause would show that another account kept the slot.
  platform_rule_id text not null default gen_random_uuid()::text,
  primary key (rule_id, version, platform)
);
