-- compatible with 0008_incarnations.sql

-- Matches that are sent together, on a schedule (src/digests/make-issues.ts).
create table digests (
  id text primary key,
  account_id text not null,
  name text not null,
  rule_id text,
  platform text,
  -- Either a cron line with its zone, or a number of seconds.
  cron text,
  time_zone text,
  window_seconds integer,
  -- Either a webhook or addresses.
  webhook_id text references webhooks (id),
  emails text[],
  min_matches integer not null,
  empty text not null check (empty in ('skip', 'send')),
  max_matches integer not null,
  -- Up to here, in the match log and in time, everything was put into an issue.
  position bigint not null,
  covered_until timestamptz not null,
  -- When it is due, and the clock by which that was decided.
  next_at timestamptz not null,
  scheduled_at timestamptz not null,
  last_number integer not null default 0,
  last_sent_at timestamptz,
  problem text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (account_id, name),
  check ((cron is null) = (time_zone is null) and (cron is null) <> (window_seconds is null)),
  check ((webhook_id is null) <> (emails is null))
);
create index digests_due on digests (next_at);
create index digests_by_clock on digests (scheduled_at);
create index digests_of_webhook on digests (webhook_id) where webhook_id is not null;

-- The issue that a digest has to send: one at a time. Written in the transaction that moves the digest's position, and removed when it
-- was sent or given up. What it says is read from the matches when it is sent, so what was removed meanwhile is not in it.
create table digest_issues (
  digest_id text primary key references digests (id) on delete cascade,
  account_id text not null,
  -- The same at every attempt, and never that of another issue, also after a restore of the database.
  message_id text not null unique,
  number integer not null,
  -- Behind the first position, up to the second.
  position_from bigint not null,
  position_to bigint not null,
  from_at timestamptz not null,
  to_at timestamptz not null,
  made_at timestamptz not null,
  failures integer not null default 0,
  next_attempt_at timestamptz not null,
  lease text,
  lease_until timestamptz not null default '-infinity'
);
create index digest_issues_due on digest_issues (next_attempt_at);

-- How many mails an account was allowed on a day.
create table digest_mails (
  account_id text not null,
  day date not null,
  mails integer not null,
  primary key (account_id, day)
);

-- Who may do what, as in 0005_roles.sql.
do $$
declare
  name text;
begin
  foreach name in array array['digests', 'digest_issues', 'digest_mails'] loop
    execute format('alter table %I enable row level security', name);
    execute format(
      'create policy own_rows on %I to earshot_account using (account_id = current_setting(''earshot.account''))', name);
    execute format('create policy all_rows on %I to earshot_runtime using (true)', name);
  end loop;
end $$;
grant select, insert, update, delete on digests to earshot_account;
-- An issue that waits is tried at once when its owner gives it another recipient.
grant select, update (next_attempt_at) on digest_issues to earshot_account;
grant select on digest_mails to earshot_account;
grant select, insert, update, delete on digests, digest_issues, digest_mails to earshot_runtime;
