-- Forward only. A later change is a new file; this one never changes again.

-- Each endpoint is a reader of the match log. Neither table refers to accounts: see 0003.
create table webhooks (
  id text primary key,
  account_id text not null,
  name text not null,
  url text not null,
  rule_id text,
  platform text,
  state text not null check (state in ('active', 'paused', 'disabled')),
  disabled_because text,
  -- Everything up to here was delivered, parked, or is not for this webhook.
  position bigint not null,
  -- Grows when the webhook is set back or its filter changes: what was under way then counts for nothing.
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
  -- AES-256-GCM; the key is in the configuration only.
  secret bytea not null,
  previous_secret bytea,
  previous_secret_until timestamptz,
  -- Who is sending; nobody else does until then.
  lease text,
  lease_until timestamptz not null default '-infinity',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (account_id, name)
);
create index webhooks_due on webhooks (next_attempt_at) where state = 'active';

-- The batch that is on its way: the bytes of every attempt are these.
create table webhook_batches (
  webhook_id text primary key references webhooks (id) on delete cascade,
  message_id text not null,
  first_position bigint not null,
  last_position bigint not null,
  match_count integer not null,
  attempts integer not null default 0,
  body text compression lz4 not null
);

-- One row per attempt, and one per match that was parked.
create table deliveries (
  id text primary key,
  webhook_id text not null,
  message_id text,
  first_position bigint not null,
  last_position bigint not null,
  match_count integer not null,
  attempt integer,
  outcome text not null,
  status integer,
  latency_ms integer,
  detail text,
  response text,
  at timestamptz not null default now()
);
create index deliveries_by_webhook on deliveries (webhook_id, id desc);
create index deliveries_not_delivered on deliveries (webhook_id, outcome, id desc) where outcome <> 'delivered';
create index deliveries_by_age on deliveries (at);
