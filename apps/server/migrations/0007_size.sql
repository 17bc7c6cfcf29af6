-- What is asked all the time is kept when matches are written, so that nobody reads millions of them for one answer. All
-- of it is written by the match transaction (src/matching/match-store.sql.ts), under the lock of the positions.

-- The last position of each rule and platform; rule_id '' is for all rules of the account. Claims of webhooks ask it. No
-- index on the position, and room in the pages: its updates stay in place.
create table heads (
  account_id text not null,
  rule_id text not null,
  platform text not null,
  last_position bigint not null,
  primary key (account_id, rule_id, platform)
) with (fillfactor = 70);

-- The same for each day of events, which is each partition of matches: lists learn where to look, retention what it
-- removes, the purge where a deleted rule has matches. Matches of deleted rules count until the day is removed.
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

-- Times as positions, for each ten seconds: the first position of these or any later ones, the last of these or any earlier
-- ones. Both hold also where the clock was set back.
create function began_of(at timestamptz) returns timestamptz language sql immutable as $$
  select date_bin('10 seconds', at, timestamptz '2000-01-01 00:00:00Z')
$$;
create table match_times (
  began timestamptz primary key,
  first_position bigint not null,
  last_position bigint not null
) with (fillfactor = 70);

insert into day_heads (account_id, rule_id, platform, event_day, first_position, last_position, matches)
  select account_id, coalesce(rule_id, ''), platform, event_day, min(position), max(position), count(*)
  from matches
  group by grouping sets ((account_id, rule_id, platform, event_day), (account_id, platform, event_day));
insert into heads (account_id, rule_id, platform, last_position)
  select account_id, rule_id, platform, max(last_position) from day_heads group by account_id, rule_id, platform;
insert into match_times (began, first_position, last_position)
  select began, min(first_position) over (order by began desc), max(last_position) over (order by began) from (
    select began_of(created_at) as began, min(position) as first_position, max(position) as last_position
    from matches group by 1
  ) as times;

-- With the platform, so that one which is rare is found without reading the others.
drop index matches_by_account;
create index matches_by_account on matches (account_id, platform, position);
drop index matches_by_rule;
create index matches_by_rule on matches (rule_id, platform, position);

-- Which rules a list leaves out.
create index rules_hidden on rules (account_id) where state in ('creating', 'deleted');

do $$
declare
  name text;
begin
  foreach name in array array['heads', 'day_heads'] loop
    execute format('alter table %I enable row level security', name);
    execute format(
      'create policy own_rows on %I to earshot_account using (account_id = current_setting(''earshot.account''))', name);
    execute format('create policy all_rows on %I to earshot_runtime using (true)', name);
  end loop;
end $$;
grant select on heads, day_heads, match_times to earshot_account;
grant select, insert, update, delete on heads, day_heads to earshot_runtime;
grant select, insert, update on match_times to earshot_runtime;
