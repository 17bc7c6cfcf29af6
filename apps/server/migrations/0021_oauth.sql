-- compatible with 0008_incarnations.sql

-- Authorizations of programs by OAuth (src/oauth): each is a key of its own, whose hash belongs to no key.
alter table api_keys
  add column client_id text,
  add column client_name text,
  add constraint api_keys_client_named check ((client_id is null) = (client_name is null));
create index api_keys_of_clients on api_keys (id) where client_id is not null and revoked_at is null;

-- What the authorization server keeps: registered clients, requests that wait for a decision, grants, codes and tokens.
create table oauth_artefacts (
  kind text not null,
  -- SHA-256 of the id: for codes and tokens the id is the secret itself, and is in no other column.
  hash bytea not null,
  payload jsonb not null,
  -- The key that the grant is.
  grant_id text,
  client_id text,
  account_id text,
  created_at timestamptz not null default now(),
  -- Null: a client, which stays as long as it has a grant.
  expires_at timestamptz,
  consumed_at timestamptz,
  primary key (kind, hash)
);
create index oauth_artefacts_by_grant on oauth_artefacts (grant_id, kind) where grant_id is not null;
create index oauth_artefacts_by_client on oauth_artefacts (client_id, kind);
create index oauth_artefacts_by_account on oauth_artefacts (account_id) where account_id is not null;
create index oauth_artefacts_by_expiry on oauth_artefacts (expires_at) where expires_at is not null;

-- Who may do what, as in 0005_roles.sql. They are looked up before the account is known; accounts have no right to them at all.
alter table oauth_artefacts enable row level security;
create policy all_rows on oauth_artefacts to earshot_runtime using (true);
grant select, insert, update (payload, account_id, expires_at, consumed_at), delete on oauth_artefacts to earshot_runtime;
