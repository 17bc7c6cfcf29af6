-- compatible with 0008_incarnations.sql

-- What accounts must know (src/notices/notice-log.sql.ts). Each account has a log of its own, with its own positions: nobody learns
-- from them how much others are told, and nobody waits for another account's lock.

-- Its row is locked from the moment a position is given out until the commit, so positions become visible in order.
create table notice_log (
  account_id text primary key,
  last_position bigint not null,
  -- Up to here retention has removed notices.
  removed_through bigint not null default 0,
  server text
);

-- A database that goes back must not give out positions again, as in 0008_incarnations.sql. Here it is enough that they jump ahead to
-- the clock: whoever has read further than the log now reaches goes on behind everything it has seen, and misses nothing.
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
  -- A notice that is resolved gets a new one: it is in the log once, as it is now.
  position bigint not null,
  type text not null,
  severity text not null check (severity in ('info', 'warning', 'critical')),
  subject_kind text not null,
  subject_id text not null,
  subject_name text not null,
  -- Tells notices of one type and subject apart, such as the gap or the period and threshold.
  key text not null,
  data json not null,
  what_to_do text not null,
  created_at timestamptz not null default clock_timestamp(),
  changed_at timestamptz not null default clock_timestamp(),
  resolved_at timestamptz
);
create unique index notices_by_position on notices (account_id, position);
-- One at a time: whoever raises it again, on whichever node, does nothing.
create unique index notices_open on notices (type, subject_kind, subject_id, key, account_id) where resolved_at is null;
create index notices_by_age on notices (changed_at);

-- Webhooks of those who ask for it. Nothing is stored of a message that is under way: it is made from the notice, so it is the same at
-- every attempt until the notice itself changes.
alter table webhooks add column events text[] not null default '{matches}',
  -- Up to here the notices were delivered or parked.
  add column notice_position bigint not null default 0,
  -- How often the endpoint has refused the next one, and when it is tried again: matches do not wait for it.
  add column notice_refusals integer not null default 0,
  add column notice_attempt_at timestamptz not null default 'epoch';
-- Set for an attempt with a notice, which has no matches.
alter table deliveries add column notice_id text;

-- What a named reader reads.
alter table readers add column reads text not null default 'matches' check (reads in ('matches', 'notices'));

-- Who may do what, as in 0005_roles.sql. An account resolves what it mends: a rule that it resumes or deletes, a webhook that it
-- deletes. Only workers raise.
do $$
declare
  name text;
begin
  foreach name in array array['notices', 'notice_log'] loop
    execute format('alter table %I enable row level security', name);
    execute format(
      'create policy own_rows on %I to earshot_account using (account_id = current_setting(''earshot.account''))', name);
    execute format('create policy all_rows on %I to earshot_runtime using (true)', name);
  end loop;
end $$;
grant select, update (position, changed_at, resolved_at) on notices to earshot_account;
grant select, update (last_position) on notice_log to earshot_account;
grant select, insert, update on notices, notice_log to earshot_runtime;
revoke all on function begin_notice_incarnation from public;
