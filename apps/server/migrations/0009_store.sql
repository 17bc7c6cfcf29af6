-- Dead letters, the check that the log left out no event, and retention.

-- Events that could not be stored after several tries. Acknowledged in the log only once they are here.
create table dead_letters (
  id bigint generated always as identity primary key,
  sequence bigint not null,
  -- The message as it stood in the log: it may be no event at all.
  body text compression lz4 not null,
  error text not null,
  deliveries integer not null,
  -- Set by the operator; a match worker then tries once more.
  retry_requested boolean not null default false,
  created_at timestamptz not null default now()
);
create index dead_letters_to_retry on dead_letters (id) where retry_requested;

-- Which messages of the log were dealt with, written before they are acknowledged; removed once checked.
create table settled_batches (
  last_sequence bigint not null,
  sequences bigint[] not null
);

-- Up to which sequence every message of the log is known to be dealt with.
create table log_check (
  only_row boolean primary key default true check (only_row),
  -- A log that was made anew counts from 1 again.
  log_created_at text not null,
  checked_through bigint not null
);

-- The last position that retention removed, per rule: a follower with an older cursor has missed something.
create table removed_matches (
  account_id text not null,
  rule_id text not null references rules (id) on delete cascade,
  platform text not null,
  last_position bigint not null,
  primary key (account_id, rule_id, platform)
);
create index removed_matches_by_rule on removed_matches (rule_id);
