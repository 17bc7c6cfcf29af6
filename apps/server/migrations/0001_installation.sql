-- What all nodes of one installation share.

create table installation (
  only_row boolean primary key default true check (only_row),
  -- Part of every tag that we set upstream: `earshot:<installation>:<slot>`. Upstream rules with another tag are not ours.
  id text not null,
  -- Signs cursors. After a rotation all nodes accept both secrets, and sign with the new one once every node knows it
  -- (src/engines/installation.ts).
  cursor_secret bytea not null,
  previous_cursor_secret bytea,
  -- When the new secret starts to sign; null if it was never rotated.
  cursor_secret_since timestamptz
);
insert into installation (id, cursor_secret) values (
  substr(replace(gen_random_uuid()::text, '-', ''), 1, 12),
  decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex')
);

create table leases (
  name text primary key,
  holder text not null,
  epoch bigint not null,
  expires_at timestamptz not null
);

-- The event log that belongs to this database, and its last known sequence. A database that meets another log is a copy, or its
-- log was lost.
create table event_log (
  only_row boolean primary key default true check (only_row),
  -- As NATS reports it. Null: the next log is accepted.
  created_at text,
  last_sequence bigint not null default 0
);
insert into event_log default values;
