-- Copies of an account's matches in a bucket of its owner (src/archives/). Does not reference accounts, for the same reason as webhooks.
create table archives (
  id text primary key,
  account_id text not null,
  name text not null,
  endpoint text not null,
  region text not null,
  bucket text not null,
  prefix text not null,
  access_key_id text not null,
  -- AES-256-GCM; the key is in the configuration only.
  secret bytea not null,
  format text not null check (format in ('ndjson.gz', 'parquet')),
  -- As of a webhook.
  rule_ids text[],
  -- Everything up to here, in the match log and in time, is in the bucket. The time is the end of an hour.
  position bigint not null,
  covered_until timestamptz not null,
  -- When something was last written.
  written_at timestamptz,
  failures integer not null default 0,
  failing_since timestamptz,
  problem text,
  next_attempt_at timestamptz not null,
  lease text,
  lease_until timestamptz not null default '-infinity',
  created_at timestamptz not null default now(),
  unique (account_id, name),
  -- Two archives would overwrite each other's manifests.
  unique (account_id, endpoint, bucket, prefix)
);
create index archives_due on archives (next_attempt_at);

-- The objects of the latest days, for the manifest of a day. A row is written before its object: its positions are the name of the
-- object, so an attempt after a crash writes the same object again.
create table archive_objects (
  archive_id text not null references archives (id) on delete cascade,
  account_id text not null,
  -- The beginning of the hour.
  hour timestamptz not null,
  first_position bigint not null,
  last_position bigint not null,
  -- Null until the object is in the bucket and in the manifest.
  matches integer,
  bytes bigint,
  sha256 text,
  primary key (archive_id, last_position)
);
