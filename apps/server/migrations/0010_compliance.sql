-- compatible with 0008_incarnations.sql

-- When the kept items of a platform were last compared with what is still there (src/removals/remove-items.ts).
create table compliance_checks (
  platform text primary key,
  completed_at timestamptz not null
);
grant select, insert, update on compliance_checks to earshot_runtime;
