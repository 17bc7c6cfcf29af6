-- Forward only. A later change is a new file; this one never changes again.

-- What the connector of a source is doing, for people. Only as fresh as `live_until` says: a dead process writes nothing.
alter table sources add column state text not null default 'starting';
alter table sources add column state_since timestamptz not null default now();
-- The upstream's words, or ours.
alter table sources add column state_detail text;
alter table sources add column next_attempt_at timestamptz;
-- What the stream usually brings: a new holder of the source must notice when it went quiet.
alter table sources add column usual_per_minute double precision;
