-- Forward only. A later change is a new file; this one never changes again.

-- Rule calls of the last window, written before each call: a new holder of a source knows what its predecessor spent.
create table upstream_calls (
  source_id text not null,
  bucket text not null,
  called_at timestamptz not null default clock_timestamp()
);
create index upstream_calls_by_source on upstream_calls (source_id, bucket, called_at);

-- When the upstream's rule list was last read: a rule that is missing later was there until then.
alter table sources add column rules_seen_at timestamptz;

-- `registered_at` is the first time, this the latest.
alter table slots add column confirmed_at timestamptz;
-- The source that still serves a slot until its new one does.
alter table slots add column moved_from text;
create index slots_by_former_source on slots (moved_from) where moved_from is not null;
-- A slot that was registered once has rules that rely on it: a refusal is not the end.
alter table slots add column attempts integer not null default 0;
alter table slots add column retry_at timestamptz;
create index slots_to_retry on slots (source_id, retry_at) where state = 'failed' and retry_at is not null;

-- Times in which a registered slot had no rule upstream.
create table slot_gaps (
  id bigint generated always as identity primary key,
  slot_id text not null references slots (id) on delete cascade,
  from_at timestamptz not null,
  to_at timestamptz
);
create index slot_gaps_by_slot on slot_gaps (slot_id, from_at);
