-- compatible with 0008_incarnations.sql

-- The upstream rule that a slot had on the source that it was moved from. Until the slot is registered on its new source, and for what
-- is under way then, events name this one.
alter table slots add column moved_rule_id text;
create index slots_by_moved_rule on slots (moved_from, moved_rule_id) where moved_rule_id is not null;
