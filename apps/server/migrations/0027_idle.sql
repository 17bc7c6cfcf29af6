-- compatible with 0008_incarnations.sql

-- Since when a source has somebody to listen for, which every node asks every ten seconds: without it all slots are read.
create index slots_registered_since on slots (source_id, coalesce(registered_at, created_at)) where state = 'registered';
