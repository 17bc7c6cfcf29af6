-- A database that goes back (restored from a backup, or a standby takes over that was behind) must not give out positions again:
-- they are the ids of matches and the cursors of readers. It can only go back while its server is stopped, or when its tables are
-- made anew. So the log remembers on which server it was last written, and on another one its positions jump ahead to the clock.

-- Differs after every start of PostgreSQL, on every other server, and for every other table.
create function this_server() returns text language sql stable as $$
  select extract(epoch from pg_postmaster_start_time()) || ' ' || 'public.match_log'::regclass::oid
$$;

-- Null: the next write begins a new incarnation.
alter table match_log add column server text;
-- A log with matches may be that of an old backup.
update match_log set server = this_server() where last_position = 0;

-- No match of this log has a position in (from_position, to_position]. A cursor in there was given out by a database that is gone.
create table position_jumps (
  from_position bigint primary key,
  to_position bigint not null,
  at timestamptz not null default clock_timestamp()
);
grant select on position_jumps to earshot_account, earshot_runtime;

-- A trigger, because only that has the former and the next position under the lock of the row. Milliseconds times 2^10: more than
-- any incarnation before has reached, unless it stored a million matches a second all the time; below 2^53 until the year 2248.
create function begin_incarnation() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
declare
  jump_to bigint := greatest(old.last_position + (1 << 20), (extract(epoch from clock_timestamp()) * 1000)::bigint << 10);
begin
  insert into position_jumps (from_position, to_position) values (old.last_position, jump_to)
    on conflict (from_position) do update set to_position = excluded.to_position;
  new.last_position := jump_to + new.last_position - old.last_position;
  new.server := this_server();
  return new;
end $$;
create trigger incarnations_begin before update of last_position on match_log for each row
  when (old.server is distinct from this_server()) execute function begin_incarnation();

-- Which event log belongs to this database, and up to where it was written when somebody last looked. A database that meets another
-- log is a copy, or its log was lost.
create table event_log (
  only_row boolean primary key default true check (only_row),
  -- As NATS says it. Null: the next log is accepted.
  created_at text,
  last_sequence bigint not null default 0
);
insert into event_log (created_at) values ((select log_created_at from log_check));
grant select, update on event_log to earshot_runtime;

-- What the log had passed when PostgreSQL was last started, and is not settled, may have been stored and forgotten.
alter table log_check drop column log_created_at, add column server text, add column forgotten_through bigint not null default 0;
