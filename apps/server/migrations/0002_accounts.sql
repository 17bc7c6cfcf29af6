-- Accounts, their keys and sessions, and their audit.

-- Plans and their limits (src/accounts/plans.ts). Nodes read them with each key, so a change applies within 5 seconds.
create table plans (
  name text primary key,
  -- Rules on x.
  rules integer not null check (rules >= 0),
  -- Per minute, of one key. All keys of an account together get twice as many.
  requests integer not null check (requests > 0),
  -- Of rules and keys, per minute.
  changes integer not null check (changes > 0),
  keys integer not null check (keys > 0),
  webhooks integer not null check (webhooks >= 0),
  readers integer not null check (readers > 0),
  digests integer not null check (digests >= 0),
  -- Per UTC day.
  mails integer not null check (mails >= 0),
  -- Calls of X's counts for estimates, per UTC day.
  counts integer not null check (counts >= 0)
);
insert into plans (name, rules, requests, changes, keys, webhooks, readers, digests, mails, counts) values
  ('paid', 1000, 600, 120, 100, 100, 100, 50, 200, 100),
  ('free', 3, 60, 12, 5, 2, 5, 2, 200, 100);

create table accounts (
  id text primary key,
  name text not null,
  plan text not null constraint accounts_plan_known references plans (name),
  -- Overrides of the plan's limits, by the names of their columns.
  limits jsonb not null default '{}',
  -- {"period", "usd" or "matches", "on_reached"}
  budget json,
  -- From then on its keys are refused, its rules paused and its webhooks silent.
  suspended_at timestamptz,
  -- Never below the number of premium rules: it grows with each new rule, under the account's row lock, and stays when rules are
  -- deleted. The rules are counted again only when it reaches the plan's maximum.
  premium_rules_bound bigint,
  created_at timestamptz not null default now()
);
create index accounts_suspended on accounts (id) where suspended_at is not null;

-- All that remains of a deleted account (src/removals/delete-account.ts).
create table deleted_accounts (
  account_id text primary key,
  begun_at timestamptz not null default now(),
  -- From then on no platform has a rule of it.
  released_at timestamptz,
  deleted_at timestamptz
);

create table api_keys (
  id text primary key,
  account_id text not null references accounts (id),
  -- SHA-256 of the key: a random key of 190 bits needs no slow hash, and the key itself is never stored.
  hash bytea not null unique,
  display text not null,
  name text,
  scopes text[] not null,
  budget json,
  -- The key whose budget it spends: its own, or the key that created it.
  spends_from text,
  -- Set for the authorization of an OAuth client. The hash then belongs to no key.
  client_id text,
  client_name text,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  constraint api_keys_client_named check ((client_id is null) = (client_name is null))
);
create index api_keys_by_account on api_keys (account_id);
create index api_keys_spending on api_keys (spends_from) where spends_from is not null;
create index api_keys_of_clients on api_keys (id) where client_id is not null and revoked_at is null;

-- `idempotency_keys` and `audit` do not reference accounts: the reference would lock the account's row at the end of transactions
-- that already hold slots, and a creation locks in the opposite order.

-- Answers to changes that were sent with an Idempotency-Key, kept for 24 hours.
create table idempotency_keys (
  account_id text not null,
  operation text not null,
  key text not null,
  -- SHA-256 of the canonical request: the key belongs to this request only.
  fingerprint bytea not null,
  -- Only the current attempt may store an answer, so an attempt that was given up for dead cannot take effect.
  attempt text not null,
  lease_until timestamptz not null,
  -- The body as it was sent; null while the first attempt runs.
  answer text,
  created_at timestamptz not null default now(),
  primary key (account_id, operation, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);

create table audit (
  id text primary key,
  account_id text not null,
  -- The id of the key, or `operator`.
  actor text not null,
  operation text not null,
  target_id text not null,
  before jsonb,
  after jsonb,
  request_id text,
  created_at timestamptz not null default now()
);
create index audit_by_account on audit (account_id, id desc);
-- The rules that a key has created, including deleted ones: what they cost was spent.
create index audit_creations on audit (actor, target_id) where operation = 'CreateRule';

create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'the audit is append only';
end $$;
create trigger audit_append_only before update or truncate on audit
  for each statement execute function refuse_audit_change();

-- An account's audit is deleted with the account and not before. Only the owner may write deleted_accounts.
create function guard_audit_delete() returns trigger language plpgsql as $$
begin
  if exists (select 1 from deleted_accounts where account_id = old.account_id) then return old; end if;
  raise exception 'the audit is append only';
end $$;
create trigger audit_delete_guard before delete on audit
  for each row execute function guard_audit_delete();

-- Console sessions (src/accounts/console-sessions.ts). A session has the rights of its key, and ends with it.
create table console_sessions (
  id text primary key,
  -- SHA-256 of the 256 random bits in the browser's cookie.
  hash bytea not null unique,
  account_id text not null,
  key_id text not null references api_keys (id),
  created_at timestamptz not null default now(),
  last_used_at timestamptz not null default now()
);
create index console_sessions_by_key on console_sessions (key_id, created_at);

-- Sign-in links. Each works once, within a minute: using it deletes the row.
create table console_links (
  -- SHA-256 of the 256 random bits in the link.
  hash bytea primary key,
  account_id text not null,
  key_id text not null references api_keys (id),
  created_at timestamptz not null default now()
);

-- What the authorization server keeps: registered clients, pending requests, grants, codes and tokens (src/oauth).
create table oauth_artefacts (
  kind text not null,
  -- SHA-256 of the id: for codes and tokens the id is the secret itself, and no other column has it.
  hash bytea not null,
  payload jsonb not null,
  -- The key that the grant is.
  grant_id text,
  client_id text,
  account_id text,
  created_at timestamptz not null default now(),
  -- Null for a client, which stays as long as it has a grant.
  expires_at timestamptz,
  consumed_at timestamptz,
  primary key (kind, hash)
);
create index oauth_artefacts_by_grant on oauth_artefacts (grant_id, kind) where grant_id is not null;
create index oauth_artefacts_by_client on oauth_artefacts (client_id, kind);
create index oauth_artefacts_by_account on oauth_artefacts (account_id) where account_id is not null;
create index oauth_artefacts_by_expiry on oauth_artefacts (expires_at) where expires_at is not null;
