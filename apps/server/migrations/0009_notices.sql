-- Notices to accounts (src/notices/notice-log.sql.ts). Each account has its own log with its own positions: no account learns from them how
-- many notices other accounts get, or waits for another account's lock.

-- The row is locked from the assignment of a position to the commit, so positions become visible in order.
create table notice_log (
  account_id text primary key,
  last_position bigint not null,
  -- Retention has removed notices up to here.
  removed_through bigint not null default 0,
  -- As in match_log.
  server text
);

-- A restored database must not assign positions again. Here it is enough that they jump ahead to the clock: a reader that is ahead of
-- the log continues behind everything that it has seen, and misses nothing.
create function begin_notice_incarnation() returns trigger language plpgsql as $$
declare
  clock bigint := (extract(epoch from clock_timestamp()) * 1000)::bigint << 10;
begin
  if tg_op = 'INSERT' then
    new.last_position := clock + new.last_position;
  elsif old.server is distinct from this_server() then
    new.last_position := greatest(new.last_position + (1 << 20), clock);
  end if;
  new.server := this_server();
  return new;
end $$;
create trigger notice_incarnations_begin before insert or update of last_position on notice_log for each row
  execute function begin_notice_incarnation();

create table notices (
  id text primary key,
  account_id text not null,
  -- A resolved notice gets a new position: the log has each notice once, as it is now.
  position bigint not null,
  type text not null,
  severity text not null check (severity in ('info', 'warning', 'critical')),
  subject_kind text not null,
  subject_id text not null,
  subject_name text not null,
  -- Distinguishes notices of one type and subject by the gap, or the period and threshold.
  key text not null,
  data json not null,
  what_to_do text not null,
  created_at timestamptz not null default clock_timestamp(),
  changed_at timestamptz not null default clock_timestamp(),
  resolved_at timestamptz
);
create unique index notices_by_position on notices (account_id, position);
-- One open notice at a time: raising it again, on any node, does nothing.
create unique index notices_open on notices (type, subject_kind, subject_id, key, account_id) where resolved_at is null;
create index notices_by_age on notices (changed_at);
