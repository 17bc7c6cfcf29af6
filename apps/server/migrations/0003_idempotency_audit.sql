-- Neither table refers to accounts: the reference would lock the account's row at the end of transactions that
-- already hold slots, and a creation locks in the other order.

-- The answers of changes that were sent with an Idempotency-Key, for 24 hours.
create table idempotency_keys (
  account_id text not null,
  operation text not null,
  key text not null,
  -- SHA-256 of the canonical request: the key belongs to this request and to no other.
  fingerprint bytea not null,
  -- Who runs it. Only the present attempt may store an answer, so one that was given up for dead cannot take effect.
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

create function refuse_change_of_audit() returns trigger language plpgsql as $$
begin
  raise exception 'the audit is append only';
end $$;
create trigger audit_is_append_only before update or delete or truncate on audit
  for each statement execute function refuse_change_of_audit();
