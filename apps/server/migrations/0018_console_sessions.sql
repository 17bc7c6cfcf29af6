-- compatible with 0008_incarnations.sql

-- Who is signed in to the console (src/accounts/console-sessions.ts). A session acts with the rights of its key, and ends with it.
create table console_sessions (
  id text primary key,
  -- SHA-256 of the 256 random bits that the browser keeps.
  hash bytea not null unique,
  account_id text not null,
  key_id text not null references api_keys (id),
  created_at timestamptz not null default now(),
  last_used_at timestamptz not null default now()
);
create index console_sessions_by_key on console_sessions (key_id, created_at);

-- Links that sign in once, within a minute: the row is deleted by whoever uses it.
create table console_links (
  -- SHA-256 of the 256 random bits in the link.
  hash bytea primary key,
  account_id text not null,
  key_id text not null references api_keys (id),
  created_at timestamptz not null default now()
);

-- Who may do what, as in 0005_roles.sql. They are looked up before the account is known; accounts have no right to them at all.
alter table console_sessions enable row level security;
create policy all_rows on console_sessions to earshot_runtime using (true);
grant select, insert, update (last_used_at), delete on console_sessions to earshot_runtime;
alter table console_links enable row level security;
create policy all_rows on console_links to earshot_runtime using (true);
grant select, insert, delete on console_links to earshot_runtime;
