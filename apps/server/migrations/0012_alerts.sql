-- Spikes and drops of rules with `rules.alerts` (src/alerts/).

-- How far the matches of a rule on a platform are counted and judged, and whether an alert is open.
create table alert_states (
  rule_id text not null references rules (id) on delete cascade,
  platform text not null,
  account_id text not null,
  -- Identifies the query: another one begins again.
  query_hash text not null,
  -- The history begins here: when the rule got the query.
  since timestamptz not null,
  -- The matches up to this position are counted.
  counted_position bigint not null default 0,
  -- The end of the last judged 15 minutes.
  judged_through timestamptz not null,
  -- Nothing was judged yet.
  is_new boolean not null default true,
  -- The platform's counts of the query when the alerts were switched on: `{"fromMs": …, "counts": […]}` per hour.
  counted jsonb,
  -- `AlertState` of src/alerts/alert-state.ts.
  state json not null,
  primary key (rule_id, platform)
);

-- Per 15 minutes of the items' own time: the matches, and how long the coverage ledger covers them.
create table rule_counts (
  rule_id text not null references rules (id) on delete cascade,
  platform text not null,
  began timestamptz not null,
  account_id text not null,
  matches integer not null default 0,
  covered_seconds real not null default 0,
  primary key (rule_id, platform, began)
);
