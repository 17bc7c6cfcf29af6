-- What the upstreams bill, how it is divided among rules, what the platforms counted for estimates, and what was reported about budgets. The match
-- transaction writes usage and bills.

-- What an account sees. Items, users and referenced posts are in millionths: each item is divided among the account's own rules. Rows
-- outlive their rule, because what it cost was spent.
create table usage (
  account_id text not null,
  rule_id text not null,
  platform text not null,
  day date not null,
  matches bigint not null,
  last_match_at timestamptz not null,
  items bigint not null default 0,
  users bigint not null default 0,
  referenced_posts bigint not null default 0,
  primary key (rule_id, platform, day)
);
create index usage_by_account on usage (account_id, day);

-- What was billed on a UTC day: a resource is new if its row is. Kept for the few days in which it may be delivered again.
create table billed (
  -- X's own number, or 64 bits of a hash of another identifier.
  id bigint not null,
  day date not null,
  -- The source and the kind of resource, as 32 bits of a hash: the table has a row per resource, so rows are small.
  meter integer not null,
  -- False while it was only included with a delivered item.
  delivered boolean not null,
  primary key (day, meter, id)
);

-- The upstream's bill: resources of each kind, if only delivered ones are billed (at least), and if included ones are billed too (at
-- most). Calls that are billed separately are a separate kind.
create table source_usage (
  source_id text not null,
  -- The day of delivery.
  day date not null,
  kind text not null,
  at_least bigint not null,
  at_most bigint not null,
  primary key (source_id, day, kind)
) with (fillfactor = 70);

-- The same divided among the rules that got the delivery, in millionths; the empty account has what no rule got. Only for the operator:
-- an account could infer from it which other accounts share its queries.
create table bill_shares (
  day date not null,
  source_id text not null,
  kind text not null,
  account_id text not null,
  rule_id text not null,
  at_least bigint not null,
  at_most bigint not null,
  primary key (day, source_id, kind, rule_id)
) with (fillfactor = 70);

-- The last day of each source that was compared with the upstream's own count; null if it does not report one.
create table usage_checks (
  source_id text primary key,
  day date not null,
  reported bigint,
  at_least bigint not null,
  at_most bigint not null
);

-- The platform's counts of a query, for an hour. Per account: neither the fee nor anything else may show whether another account
-- requested the same counts.
create table platform_counts (
  account_id text not null,
  platform text not null,
  -- As in slots: the canonical query and its options.
  value_hash bytea not null,
  -- `{"fromMs": …, "counts": […]}` as the platform answered.
  counts jsonb not null,
  counted_at timestamptz not null default now(),
  primary key (account_id, platform, value_hash)
);
create index platform_counts_by_age on platform_counts (counted_at);

-- How often the platforms' counts were requested for an account: each call costs money.
create table counts_calls (
  account_id text not null,
  day date not null,
  calls integer not null,
  primary key (account_id, day)
);

-- What was reported about a budget: once per budget, period and threshold, by the first node that notices.
create table budget_marks (
  account_id text not null,
  subject_kind text not null check (subject_kind in ('rule', 'key', 'account')),
  subject_id text not null,
  type text not null,
  -- The budget, the start of the period, and what else distinguishes two notices.
  key text not null,
  -- Null: the budget has no next period.
  ends_at timestamptz,
  resolved_at timestamptz,
  primary key (subject_kind, subject_id, type, key)
);
create index budget_marks_open on budget_marks (ends_at) where resolved_at is null;
