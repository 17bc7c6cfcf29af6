-- Named readers, webhooks and digests. Each follows the match log from a position.

-- Readers whose position the server keeps. They do not reference rules: a reader whose rule is gone remains to report it.
create table readers (
  account_id text not null references accounts (id) on delete cascade,
  name text not null,
  reads text not null default 'matches' check (reads in ('matches', 'notices')),
  -- Its filter, which never changes.
  rule_id text,
  platform text,
  relevance text not null default 'all' check (relevance in ('all', 'not_irrelevant', 'relevant')),
  grouping text check (grouping = 'story'),
  -- How far it has acknowledged, as a cursor holds it; null: nothing yet, starts with the oldest.
  place text,
  created_at timestamptz not null default now(),
  acknowledged_at timestamptz,
  primary key (account_id, name)
);

-- webhooks ---------------------------------------------------------------------------------------------------------

-- Does not reference accounts, for the same reason as the audit.
create table webhooks (
  id text primary key,
  account_id text not null,
  name text not null,
  url text not null,
  -- Null: every rule. An id stays when its rule is deleted; it then matches nothing.
  rule_ids text[],
  platform text,
  relevance text not null default 'all' check (relevance in ('all', 'not_irrelevant', 'relevant')),
  grouping text check (grouping = 'story'),
  -- Where the stories begin for it: those that began before are new to it.
  stories_from bigint not null default 0,
  events text[] not null default '{matches}',
  format text not null default 'standard'
    check (format in ('standard', 'cloudevents', 'slack', 'discord', 'teams')),
  -- The endpoint gets at most one message with matches in this time; a program gets full ones at once.
  window_seconds integer not null default 1 check (window_seconds between 0 and 86400),
  -- The most matches in one message of a program.
  max_matches integer not null default 100 check (max_matches between 1 and 100),
  state text not null check (state in ('active', 'paused', 'disabled')),
  disabled_reason text,
  -- Everything up to here was delivered, parked, or is not for this webhook.
  position bigint not null,
  -- Grows when the webhook is rewound or its filter changes: an attempt in flight then counts for nothing.
  epoch integer not null default 0,
  -- Matches behind the position that were refused alone. Parked as soon as a later one is accepted.
  suspects bigint[] not null default '{}',
  -- Matches in the next batch: smaller while a refused batch is being split.
  batch_max integer not null,
  failures integer not null default 0,
  failing_since timestamptz,
  next_attempt_at timestamptz not null,
  -- It failed or was slow at the last attempt: only some of the senders serve such endpoints.
  troubled boolean not null default false,
  -- When the last message with matches was delivered. Only kept where there is a window.
  message_at timestamptz,
  -- Up to here the notices were delivered or parked.
  notice_position bigint not null default 0,
  -- How often the endpoint has refused the next notice, and when it is tried again. Matches do not wait for it.
  notice_refusals integer not null default 0,
  notice_attempt_at timestamptz not null default 'epoch',
  -- AES-256-GCM; the key is in the configuration only.
  secret bytea not null,
  previous_secret bytea,
  previous_secret_until timestamptz,
  -- The sender that holds it until then.
  lease text,
  lease_until timestamptz not null default '-infinity',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (account_id, name),
  constraint webhooks_window check (format not in ('slack', 'discord', 'teams') or window_seconds >= 30)
);
create index webhooks_due on webhooks (next_attempt_at) where state = 'active';

-- The batch in flight: every attempt sends these bytes. Nothing is stored of a message with a notice: it is made from the notice.
create table webhook_batches (
  webhook_id text primary key references webhooks (id) on delete cascade,
  message_id text not null,
  first_position bigint not null,
  last_position bigint not null,
  match_count integer not null,
  attempts integer not null default 0,
  body text compression lz4 not null
);

-- Stores the batch of a leased webhook. Returns false if it is not leased, or if one of its matches was removed since it was read. A function,
-- because each of its statements sees what was committed before it: a removal locks the webhooks first.
create function begin_webhook_batch(webhook text, by_lease text, in_epoch integer, new_message text, positions bigint[],
  new_body text)
returns boolean language plpgsql volatile as $$
begin
  perform 1 from webhooks where id = webhook and lease = by_lease and epoch = in_epoch for share;
  if not found or exists (select 1 from removals where match_position = any(positions)) then return false; end if;
  insert into webhook_batches (webhook_id, message_id, first_position, last_position, match_count, body)
  values (webhook, new_message, positions[1], positions[cardinality(positions)], cardinality(positions), new_body)
  on conflict do nothing;
  return found;
end $$;

-- One row per attempt, and one per parked match. Repeated answers are counted in one row.
create table deliveries (
  id text primary key,
  webhook_id text not null,
  message_id text,
  first_position bigint not null,
  last_position bigint not null,
  match_count integer not null,
  -- Set for an attempt with a notice, which has no matches.
  notice_id text,
  attempt integer,
  outcome text not null,
  status integer,
  latency_ms integer,
  message text,
  response text,
  created_at timestamptz not null default now(),
  -- Attempts with this answer in a row, and the last of them.
  times integer not null default 1,
  last_at timestamptz not null default now()
);
create index deliveries_by_webhook on deliveries (webhook_id, id desc);
create index deliveries_not_delivered on deliveries (webhook_id, outcome, id desc) where outcome <> 'delivered';
create index deliveries_by_age on deliveries (created_at);

-- digests ----------------------------------------------------------------------------------------------------------

-- Matches that are sent together, on a schedule (src/digests/make-digest-messages.ts).
create table digests (
  id text primary key,
  account_id text not null,
  name text not null,
  -- As of a webhook.
  rule_ids text[],
  platform text,
  relevance text not null default 'all' check (relevance in ('all', 'not_irrelevant', 'relevant')),
  grouping text check (grouping = 'story'),
  -- Either a cron line with its time zone, or a number of seconds.
  cron text,
  time_zone text,
  window_seconds integer,
  -- Either a webhook or addresses.
  webhook_id text references webhooks (id),
  emails text[],
  min_matches integer not null,
  empty text not null check (empty in ('skip', 'send')),
  max_matches integer not null,
  -- Everything up to here, in the match log and in time, is in a digest message.
  position bigint not null,
  covered_until timestamptz not null,
  -- When it is due.
  next_at timestamptz not null,
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
create index digests_of_webhook on digests (webhook_id) where webhook_id is not null;

-- The digest message that waits to be sent, at most one per digest. It is written in the transaction that advances
-- the digest, and deleted when it was sent or given up. Its content is read from the matches when it is sent, so
-- removed matches are absent.
create table digest_messages (
  digest_id text primary key references digests (id) on delete cascade,
  account_id text not null,
  -- The same at every attempt, and never reused, even after a restore of the database.
  message_id text not null unique,
  number integer not null,
  -- Matches behind the first position, up to the second.
  position_from bigint not null,
  position_to bigint not null,
  from_at timestamptz not null,
  to_at timestamptz not null,
  made_at timestamptz not null,
  -- Addresses that `digest_mails` already counts: each counts once per digest message, however often it is retried.
  counted_emails text[] not null default '{}',
  failures integer not null default 0,
  next_attempt_at timestamptz not null,
  lease text,
  lease_until timestamptz not null default '-infinity'
);
create index digest_messages_due on digest_messages (next_attempt_at);

-- How many mails an account has sent per day, per recipient.
create table digest_mails (
  account_id text not null,
  day date not null,
  mails integer not null,
  primary key (account_id, day)
);
