-- How many rules a source takes, as learnt from its upstream.

-- `capacity` is what placing goes by: the smaller one of what is configured and what was learnt.
alter table sources add column configured_capacity integer not null default 2147483647;
update sources set configured_capacity = capacity;
-- Null until the upstream says something.
alter table sources add column learnt_capacity integer;
alter table sources add column learnt_at timestamptz;
