-- The tail of the match log, which each node reads once for everybody who waits on it.
create index matches_by_position on matches (position);

-- Readers whose position the server keeps. They do not refer to rules: one whose rule is gone stays to say so.
create table readers (
  account_id text not null references accounts (id) on delete cascade,
  name text not null,
  -- What it reads, for as long as it exists.
  rule_id text,
  platform text,
  -- Up to where the matches are acknowledged, as a cursor holds it; null: nothing yet, from the oldest one on.
  place text,
  created_at timestamptz not null default now(),
  acknowledged_at timestamptz,
  primary key (account_id, name)
);
