-- compatible with 0008_incarnations.sql
-- Matches that our evaluator denies are counted by a metric only.
drop table verdicts;
