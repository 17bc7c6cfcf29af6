-- Items, matches and their order, the progress through the event log, and removals. The match transaction
-- (src/matching/match-store.sql.ts) writes most of it.

-- The payload is stored once per event, however many rules match. Text with lz4 was measured 3 times faster than jsonb.
create table posts (
  platform text not null,
  event_key text not null,
  event_day date not null,
  platform_post_id text not null,
  payload text compression lz4 not null,
  primary key (event_key, platform, event_day)
) partition by range (event_day);

create table matches (
  position bigint not null,
  account_id text not null,
  rule_id text not null,
  rule_version integer not null,
  platform text not null,
  event_key text not null,
  event_day date not null,
  created_at timestamptz not null default now(),
  -- The time of the item itself. Alerts count by it, because a replay stores the items of an hour in a minute.
  item_at timestamptz not null default now(),
  via text not null default 'stream',
  primary key (rule_id, event_key, event_day)
) partition by range (event_day);
-- With the platform, so that a rare one is found without reading the others.
create index matches_by_account on matches (account_id, platform, position);
create index matches_by_rule on matches (rule_id, platform, position);
-- The tail of the match log, which each node reads once for all of its waiting readers.
create index matches_by_position on matches (position);

-- Partitions by the event's own day, created ahead: an insert must never meet a missing one. Runs as the owner, because only the
-- owner of a table may create its partitions.
create function ensure_partitions(first_day date, last_day date) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  day date := first_day;
begin
  while day <= last_day loop
    execute format('create table if not exists %I partition of posts for values from (%L) to (%L)',
      'posts_' || to_char(day, 'YYYYMMDD'), day, day + 1);
    execute format('create table if not exists %I partition of matches for values from (%L) to (%L)',
      'matches_' || to_char(day, 'YYYYMMDD'), day, day + 1);
    day := day + 1;
  end loop;
end $$;

-- A post belongs to no account: an account gets it through its own matches. One statement per day finds the partition once; over
-- all days, every lookup would choose again among all partitions (measured: 4.8 ms against 1.2 ms for the posts of 50 matches). The plan is
-- the same for all days, so it is made once per connection.
create function posts_of(rule_ids text[], event_keys text[], platforms text[], event_days date[])
returns table (rule_id text, event_key text, event_day date, platform_post_id text, payload text)
language plpgsql stable security definer
set search_path = public, pg_temp set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  day date;
begin
  for day in select distinct unnest(event_days) loop
    -- The inner limits make it one index lookup per match: a plain join might read all posts.
    return query
      select given.rule_id, given.event_key, day, found.platform_post_id, found.payload
      from unnest(rule_ids, event_keys, platforms, event_days) as given (rule_id, event_key, platform, event_day)
      join lateral (
        select 1 from matches where matches.rule_id = given.rule_id and matches.event_key = given.event_key
          and matches.event_day = day and matches.account_id = current_setting('earshot.account') limit 1
      ) as own on true
      join lateral (
        select posts.platform_post_id, posts.payload from posts where posts.event_key = given.event_key
          and posts.platform = given.platform and posts.event_day = day limit 1
      ) as found on true
      where given.event_day = day;
  end loop;
end $$;

-- order ------------------------------------------------------------------------------------------------------------

-- Positions of matches and removals become visible in order although several writers commit at the same time
-- (docs/adr/0038-ordered-commits.md). A writer takes a ticket together with its positions, writes its rows, and waits until every
-- transaction with an earlier ticket has ended. A ticket is an advisory lock that is held to the end of the transaction.

-- Changes with every start of PostgreSQL, and differs on every server and for every copy of the table. The table is looked up at each
-- call: a session that has planned the functions below must notice that it was created anew.
create function this_server() returns text language sql stable as $$
  select extract(epoch from pg_postmaster_start_time()) || ' ' || to_regclass('public.match_log')::oid
$$;

create table match_log (
  only_row boolean primary key default true check (only_row),
  last_position bigint not null,
  -- The ticket of the last commit: all earlier transactions have ended.
  ticket bigint not null default 0,
  -- The server on which the log was last written. A restored database must not assign positions again: they are the ids of matches
  -- and the cursors of readers. A database can go back only while its server is stopped, or when its tables are created anew; then
  -- the next write finds another server here, and its positions jump ahead to the clock. Null: the next write jumps.
  server text
);
insert into match_log (last_position, server) values (0, this_server());

-- No match has a position in (from_position, to_position]. A cursor in this range is from a database that no longer exists.
create table position_jumps (
  from_position bigint primary key,
  to_position bigint not null,
  at timestamptz not null default clock_timestamp()
);

-- Sequences, because what other writers have taken must be visible before they commit.
create sequence match_tickets;
create sequence match_positions minvalue 0 start 0;
-- The state of the log for which the positions have jumped ahead, as a hash.
create sequence match_jump minvalue -9223372036854775808;

-- Ticket locks are (28, 1) to (28, 2^31 - 1): tickets that far apart are never open together.
create function ticket_lock(ticket bigint) returns integer language sql immutable as $$
  select (1 + ticket % 2147483647)::integer
$$;

-- Assigns positions before + 1 to before + amount. One writer at a time is in here, for microseconds: the lock (28, 0) belongs to the
-- session and not to the transaction, so that it can be released at once. It is released on every error too, because a pooled
-- connection continues after one. A jump goes to milliseconds times 2^10: beyond any earlier position unless a million matches
-- a second were stored all the time, and below 2^53 until the year 2248.
create function take_positions(amount bigint, out ticket bigint, out before bigint, out at timestamptz)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  log record;
  jump bigint;
begin
  perform pg_advisory_lock(28, 0);
  select last_position, match_log.ticket, server into strict log from match_log;
  ticket := nextval('match_tickets');
  -- A restored dump may have the row and not the sequences.
  if ticket <= log.ticket then ticket := setval('match_tickets', log.ticket + 1); end if;
  perform pg_advisory_xact_lock(28, ticket_lock(ticket));
  before := greatest(log.last_position, (select last_value from match_positions));
  if log.server is distinct from this_server() then
    -- Once: until one of the writers has committed, all of them find the log as it was.
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

-- Records a jump and returns the server on which the log is written from now on.
create function note_jump(server text, last_position bigint, before bigint) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  -- These positions were taken before a jump was requested: the next writer jumps.
  if server is not distinct from this_server() or before < last_position + (1 << 20) then return server; end if;
  insert into position_jumps (from_position, to_position) values (last_position, before)
    on conflict (from_position) do update set to_position = excluded.to_position;
  return this_server();
end $$;

-- Waits until all transactions with an earlier ticket have ended, and writes to the log how far it is now. Other writers wait from here
-- to the commit: rows that several writers change are changed after this. The ticket before is waited for first: if it
-- committed, all earlier ones have ended; if it was rolled back, they may not be. Locks are released after a commit is visible.
create function take_turn(own_ticket bigint, before bigint, amount bigint) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform pg_advisory_lock_shared(28, ticket_lock(earlier)), pg_advisory_unlock_shared(28, ticket_lock(earlier))
    from generate_series(own_ticket - 1, (select ticket + 1 from match_log), -1) as earlier;
  update match_log set last_position = before + amount, ticket = own_ticket, server = note_jump(server, last_position, before);
  return true;
end $$;

-- summaries, so that frequent questions do not read millions of matches --------------------------------------------------

-- The last position of each rule and platform; rule_id '' stands for all rules of the account. Webhook claims read it. No index on the
-- position, and room in the pages: updates stay in place.
create table heads (
  account_id text not null,
  rule_id text not null,
  platform text not null,
  last_position bigint not null,
  primary key (account_id, rule_id, platform)
) with (fillfactor = 70);

-- The same per event day, which is a partition of matches: lists use it to find matches, retention what it removes, the purge where a
-- deleted rule has matches. Matches of deleted rules count until the day is removed.
create table day_heads (
  account_id text not null,
  rule_id text not null,
  platform text not null,
  event_day date not null,
  first_position bigint not null,
  last_position bigint not null,
  matches bigint not null,
  primary key (account_id, rule_id, platform, event_day)
) with (fillfactor = 70);
create index day_heads_by_day on day_heads (event_day);

-- Times as positions, per ten seconds: the first position of these or any later ones, and the last position of these or any earlier
-- ones. Both hold even if the clock was set back.
create function began_of(at timestamptz) returns timestamptz language sql immutable as $$
  select date_bin('10 seconds', at, timestamptz '2000-01-01 00:00:00Z')
$$;
create table match_times (
  began timestamptz primary key,
  first_position bigint not null,
  last_position bigint not null
) with (fillfactor = 70);

-- A function, because a statement that has waited for its turn does not see what was committed while it waited.
create function note_match_times(noted_at timestamptz, before bigint, amount bigint) returns void language plpgsql as $$
declare
  later match_times;
begin
  select * into later from match_times where began > began_of(noted_at) order by began limit 1;
  insert into match_times (began, first_position, last_position)
    values (began_of(noted_at), coalesce(later.first_position, before + 1), before + amount)
    on conflict (began) do update set last_position = excluded.last_position;
  -- The clock was set back.
  if later is not null then update match_times set last_position = before + amount where began >= later.began; end if;
end $$;

-- The last position that retention removed, per rule: a follower with an older cursor has missed something.
create table removed_matches (
  account_id text not null,
  rule_id text not null references rules (id) on delete cascade,
  platform text not null,
  last_position bigint not null,
  primary key (account_id, rule_id, platform)
);
create index removed_matches_by_rule on removed_matches (rule_id);

-- progress through the event log -----------------------------------------------------------------------------------------

-- Everything that was in the event log at this time has been matched. Not in match_log, whose row every commit locks.
create table match_progress (
  only_row boolean primary key default true check (only_row),
  matched_through timestamptz not null
);
insert into match_progress (matched_through) values (now());

-- Events that could not be stored after several tries. They are acknowledged in the log only once they are here.
create table dead_letters (
  id bigint generated always as identity primary key,
  sequence bigint not null,
  -- The message as it was in the log: it may not be a valid event.
  body text compression lz4 not null,
  error text not null,
  deliveries integer not null,
  -- Set by the operator; a match worker then tries once more.
  retry_requested boolean not null default false,
  created_at timestamptz not null default now()
);
create index dead_letters_to_retry on dead_letters (id) where retry_requested;

-- Messages of the log that were settled, written before they are acknowledged; removed once checked.
create table settled_batches (
  last_sequence bigint not null,
  sequences bigint[] not null
);

-- The sequence up to which every message of the log is known to be settled.
create table log_check (
  only_row boolean primary key default true check (only_row),
  checked_through bigint not null,
  server text,
  -- What the log had passed when PostgreSQL was last started, and is not settled, may have been stored and forgotten.
  forgotten_through bigint not null default 0
);

-- removals: items that their platform or the operator takes back ------------------------------------------------------------

-- What must not be stored again, whether a replay of the event log, a repair or the platform delivers it. Every match transaction checks
-- it before it stores anything, so a transaction that adds a row first locks the table in exclusive mode (which does not block backups):
-- then everything that was stored without knowing the row is committed and visible.
create table tombstones (
  platform text not null,
  -- An item by its id or its URL; an author by its id, or by `@` and its handle in lower case.
  kind text not null check (kind in ('item', 'author')),
  value text not null,
  reason text not null,
  -- An author may publish again: only what was published until then is removed.
  at timestamptz not null default now(),
  primary key (platform, kind, value)
);

-- One row for each removed match, at its own position in the match log. Deleted with the rule, or when retention would have removed
-- the match.
create table removals (
  position bigint primary key,
  match_position bigint not null,
  account_id text not null,
  rule_id text not null references rules (id) on delete cascade,
  platform text not null,
  reason text not null,
  created_at timestamptz not null
);
create index removals_by_account on removals (account_id, position);
create index removals_by_rule on removals (rule_id, position);
create index removals_by_match on removals (match_position);
create index removals_by_age on removals (created_at);

-- When the stored items of a platform were last compared with what still exists there.
create table compliance_checks (
  platform text primary key,
  completed_at timestamptz not null
);
