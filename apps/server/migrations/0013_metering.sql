-- compatible with 0008_incarnations.sql
-- What the upstreams bill, and how it is divided. All of it is written by the match transaction (src/metering).

-- What was billed on a UTC day: a resource is new when its row is. Kept for the few days in which it may come again.
create table billed (
  -- X's own number, or 64 bits of a hash of whatever else names it.
  id bigint not null,
  day date not null,
  -- The source and the kind of resource, as 32 bits of a hash: the table has a row for each resource, so they are small.
  meter integer not null,
  -- False while it only came along with something that was delivered.
  delivered boolean not null,
  primary key (day, meter, id)
);

-- The upstream's bill: how many resources of each kind, if only what was delivered is billed (at the least), and if what came along
-- with it is billed as well (at the most). Calls that are billed by themselves are a kind of their own.
create table source_usage (
  source_id text not null,
  -- Of delivery.
  day date not null,
  kind text not null,
  at_least bigint not null,
  at_most bigint not null,
  primary key (source_id, day, kind)
) with (fillfactor = 70);

-- The same divided among the rules that got the delivery, in millionths; what no rule got is under the empty account. For the
-- operator alone: an account could read in it who else has its rules.
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

-- The last day of each source that was compared with what the upstream itself has counted; null when it does not tell.
create table usage_checks (
  source_id text primary key,
  day date not null,
  reported bigint,
  at_least bigint not null,
  at_most bigint not null
);

-- What an account sees, in millionths: each item divided among its own rules, and what came along with it. Zero for matches from
-- before this migration.
alter table usage
  add column items bigint not null default 0,
  add column users bigint not null default 0,
  add column referenced_posts bigint not null default 0;
-- Rows outlive their rule: what it cost was spent.
create index usage_by_account on usage (account_id, day);

-- The key that created it; null for older ones.
alter table rules add column created_by text;

grant select, insert, update, delete on billed, bill_shares to earshot_runtime;
grant select, insert, update on source_usage, usage_checks to earshot_runtime;
