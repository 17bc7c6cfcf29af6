-- The tail of the match log, which each node reads once for everybody who waits on it.
create index matches_by_position on matches (position);

-- Readers whose position the server keeps. They do not refer to rules: one whose rule is gone stays to say so.
create table readers (
  account_id text not null references accounts (id) on delete cascade,
  name text not null,
  -- What it reads, for as long as it exists.
  rule_id text,
  platform text,
  -- Up to where the matches are acknowledged, as a cursor holds it; null: nothing yet, from the oldest one on.
  place text,
  created_at timestamptz not null default now(),
  acknowledged_at timestamptz,
  primary key (account_id, name)
);

-- Whoever acts for an account sees its own rows only. The owner of the tables, as whom workers act, is not bound.
alter table readers enable row level security;
create policy own_rows on readers using (account_id = current_setting('earshot.account'));
-- The role comes with 0012, which grants it all tables; where that ran first, this one is missing.
do $$
begin
  if exists (select 1 from pg_roles where rolname = 'earshot_account') then
    grant select, insert, update, delete on readers to earshot_account;
  end if;
end $$;
