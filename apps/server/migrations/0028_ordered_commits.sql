-- compatible with 0008_incarnations.sql

-- Positions of matches and removals become visible in order, although those who write them do so at the same time (docs/adr/
-- 0038-ordered-commits.md). A writer takes a ticket together with its positions, writes its rows, and waits for its turn: until every
-- transaction with an earlier ticket has ended. A ticket is a lock that is kept to the end of the transaction.

-- Sequences, because what others have taken must be seen before they commit.
create sequence match_tickets;
create sequence match_positions minvalue 0 start 0;
-- For which state of the log the positions have jumped ahead, as a hash.
create sequence match_jump minvalue -9223372036854775808;

-- The ticket of the last commit: all before it have ended.
alter table match_log add column ticket bigint not null default 0;

-- As in 0008_incarnations.sql. The table is looked up at each call: a session that has planned the functions below must see that it was made anew.
create or replace function this_server() returns text language sql stable as $$
  select extract(epoch from pg_postmaster_start_time()) || ' ' || to_regclass('public.match_log')::oid
$$;

-- Locks of tickets are (28, 1) to (28, 2^31 - 1): tickets that far apart are never open together.
create function ticket_lock(ticket bigint) returns integer language sql immutable as $$
  select (1 + ticket % 2147483647)::integer
$$;

-- Positions before + 1 to before + amount. One writer at a time is in here, for some microseconds: the lock (28, 0) is the session's and not the
-- transaction's, so that it can be given back at once; on every error as well, since a connection of a pool goes on after it.
create function take_positions(amount bigint, out ticket bigint, out before bigint, out at timestamptz)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  log record;
  jump bigint;
begin
  perform pg_advisory_lock(28, 0);
  select last_position, match_log.ticket, server into strict log from match_log;
  ticket := nextval('match_tickets');
  -- A dump that was put back may have brought the row and not the sequences.
  if ticket <= log.ticket then ticket := setval('match_tickets', log.ticket + 1); end if;
  perform pg_advisory_xact_lock(28, ticket_lock(ticket));
  before := greatest(log.last_position, (select last_value from match_positions));
  if log.server is distinct from this_server() then
    -- As in 0008_incarnations.sql, once: until one of them has committed, all writers find the log as it was.
    jump := hashtextextended(format('%s %L %s', this_server(), log.server, log.last_position), 0);
    if jump <> (select last_value from match_jump) then
      perform setval('match_jump', jump);
      before := greatest(before, log.last_position + (1 << 20), (extract(epoch from clock_timestamp()) * 1000)::bigint << 10);
    end if;
  end if;
  perform setval('match_positions', before + amount);
  at := clock_timestamp();
  perform pg_advisory_unlock_all();
exception when others or query_canceled then
  perform pg_advisory_unlock_all();
  raise;
end $$;

-- Until all transactions with an earlier ticket have ended. The one before is asked first: if it has committed, the others are over. If it
-- was rolled back, they may not be. Locks are released after the commit is visible.
create function await_turn(own_ticket bigint) returns void language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform pg_advisory_lock_shared(28, ticket_lock(earlier)), pg_advisory_unlock_shared(28, ticket_lock(earlier))
    from generate_series(own_ticket - 1, (select ticket + 1 from match_log), -1) as earlier;
end $$;

-- The server that the log is written on from now on.
create function note_jump(server text, last_position bigint, before bigint) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  -- Taken before somebody asked for a new incarnation: that is for the next one to begin.
  if server is not distinct from this_server() or before < last_position + (1 << 20) then return server; end if;
  insert into position_jumps (from_position, to_position) values (last_position, before)
    on conflict (from_position) do update set to_position = excluded.to_position;
  return this_server();
end $$;

-- Waits, and says in the log how far it is now. From here to the commit others wait: whatever rows several writers change, they change
-- after this. The setting tells the triggers below that the ticket is ours.
create function take_turn(own_ticket bigint, before bigint, amount bigint) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform await_turn(own_ticket);
  perform set_config('earshot.has_turn', 'yes', true);
  update match_log set last_position = before + amount, ticket = own_ticket, server = note_jump(server, last_position, before);
  perform set_config('earshot.has_turn', '', true);
  return true;
end $$;

-- Times as positions (0007_size.sql). A function, because a statement that has waited for its turn does not see what was committed meanwhile.
create function note_match_times(noted_at timestamptz, before bigint, amount bigint) returns void language plpgsql as $$
declare
  later match_times;
begin
  select * into later from match_times where began > began_of(noted_at) order by began limit 1;
  insert into match_times (began, first_position, last_position)
    values (began_of(noted_at), coalesce(later.first_position, before + 1), before + amount)
    on conflict (began) do update set last_position = excluded.last_position;
  -- A clock went back.
  if later is not null then update match_times set last_position = before + amount where began >= later.began; end if;
end $$;

-- Nodes of before add to last_position. They get a ticket and their turn when their statement begins, with room for the 5,000 positions
-- that they take at most; then the row is placed where that room is.
create function queue_for_positions() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
declare
  taken record := take_positions(10000);
begin
  perform await_turn(taken.ticket);
  perform set_config('earshot.ticket', taken.ticket::text, true), set_config('earshot.before', taken.before::text, true);
  return null;
end $$;
create function place_positions() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
declare
  before bigint := current_setting('earshot.before');
  amount bigint := new.last_position - old.last_position;
begin
  -- Anything else is somebody who sets it.
  if amount between 0 and 10000 then
    new.last_position := before + amount;
    new.ticket := current_setting('earshot.ticket');
    new.server := note_jump(old.server, old.last_position, before);
  end if;
  return new;
end $$;
drop trigger incarnations_begin on match_log;
drop function begin_incarnation;
create trigger others_queue before update of last_position on match_log for each statement
  when (current_setting('earshot.has_turn', true) is distinct from 'yes') execute function queue_for_positions();
create trigger others_are_placed before update of last_position on match_log for each row
  when (current_setting('earshot.has_turn', true) is distinct from 'yes') execute function place_positions();

revoke all on function ticket_lock, take_positions, await_turn, note_jump, take_turn, note_match_times, queue_for_positions, place_positions from public;
grant execute on function take_positions, take_turn, note_match_times to earshot_runtime;
