-- compatible with 0008_incarnations.sql

-- A rule that was created to run for a short while, to find out what its values bring (src/costs/trials.sql.ts). What ends it are
-- its `expires_at` and its `budget`.
alter table rules add column trial boolean not null default false;
create index rules_trials on rules (account_id) where trial;
