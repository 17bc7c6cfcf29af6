-- compatible with 0008_incarnations.sql
-- What our evaluator says of sampled items beside what the platform said (src/matching/verdicts.ts), per operator that decides it.
create table verdicts (
  day date not null,
  platform text not null,
  operator text not null,
  outcome text not null check (outcome in ('agreed', 'false', 'missed', 'undecided')),
  count bigint not null,
  primary key (day, platform, operator, outcome)
);
grant select, insert, update on verdicts to earshot_runtime;
