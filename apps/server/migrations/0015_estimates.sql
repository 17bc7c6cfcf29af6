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

-- The newest estimate of each value that an account has previewed, for a day; with the platform's own counts where they were asked. Per
-- account: whether another one has asked for the same value must not show, in the fee or otherwise.
create table estimates (
  account_id text not null,
  platform text not null,
  -- As in slots: the canonical value and its options.
  value_hash bytea not null,
  made_at timestamptz not null default now(),
  basis text not null,
  bound text,
  -- Matches a day: the mean, by which it is graded.
  mean double precision not null,
  p50 double precision not null,
  p90 double precision not null,
  -- `{"fromMs": …, "counts": […]}` as the platform answered.
  counted jsonb,
  counted_at timestamptz,
  primary key (account_id, platform, value_hash)
);
create index estimates_by_age on estimates (made_at);

-- How often the platforms' counts were asked for an account: each call costs money.
create table counts_calls (
  account_id text not null,
  day date not null,
  calls integer not null,
  primary key (account_id, day)
);

-- The estimate that was there when a version of a rule began to be served, and what then came (src/costs/grade-estimates.ts).
create table rule_estimates (
  rule_id text not null references rules (id) on delete cascade,
  version integer not null,
  platform text not null,
  account_id text not null,
  basis text not null,
  bound text,
  mean double precision not null,
  p50 double precision not null,
  p90 double precision not null,
  served_since timestamptz not null,
  -- Null until so many days have passed, and for ever when the version was not served for so long.
  matches_1d bigint,
  matches_7d bigint,
  -- Nothing more is to come.
  graded boolean not null default false,
  primary key (rule_id, version, platform)
);
create index rule_estimates_to_grade on rule_estimates (served_since) where not graded;

-- What rules brought that run here, beside what the platform counts of the same hours, by what its counts leave out.
create table count_factors (
  platform text not null,
  misses text not null,
  rules integer not null,
  matches double precision not null,
  counted double precision not null,
  primary key (platform, misses)
);

do $$
declare
  name text;
begin
  foreach name in array array['estimates', 'counts_calls', 'rule_estimates'] loop
    execute format('alter table %I enable row level security', name);
    execute format(
      'create policy own_rows on %I to earshot_account using (account_id = current_setting(''earshot.account''))', name);
    execute format('create policy all_rows on %I to earshot_runtime using (true)', name);
  end loop;
end $$;
grant select, insert, update on estimates, counts_calls to earshot_account;
grant select on rule_estimates to earshot_account;
grant delete on estimates, counts_calls to earshot_runtime;
grant select, insert, update on rule_estimates, count_factors to earshot_runtime;
