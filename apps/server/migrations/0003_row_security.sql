-- The second line behind the statements' own conditions: who acts for an account does it as this role, and sees no
-- other account's rows (src/engines/database.ts, forAccount). Workers act as the owner, whom nothing binds.
do $$
begin
  if not exists (select 1 from pg_roles where rolname = 'earshot_account') then
    begin
      create role earshot_account nologin nobypassrls;
    exception
      -- Another installation on the same server was faster.
      when duplicate_object or unique_violation then null;
      when insufficient_privilege then
        raise exception 'The database user % may not create roles.', current_user using hint =
          format('As a superuser: create role earshot_account nologin; grant earshot_account to %I;', current_user);
    end;
  end if;
  if not pg_has_role(current_user, 'earshot_account', 'member') then
    execute format('grant earshot_account to %I', current_user);
  end if;
end $$;

grant select, insert, update, delete on all tables in schema public to earshot_account;
revoke all on installation, migrations from earshot_account;

do $$
declare
  name text;
begin
  foreach name in array array['rules', 'api_keys', 'audit', 'matches', 'usage', 'idempotency_keys', 'watches', 'removed_matches',
    'webhooks', 'readers'] loop
    execute format('alter table %I enable row level security', name);
    execute format(
      'create policy own_rows on %I to earshot_account using (account_id = current_setting(''earshot.account''))', name);
  end loop;
end $$;

alter table accounts enable row level security;
create policy own_rows on accounts to earshot_account using (id = current_setting('earshot.account'));

-- By one look-up per row: written with `in`, every statement would first collect all rules of the account. A version is
-- written in the statement that writes its rule, whose row it cannot see yet: no check.
alter table rule_versions enable row level security;
create policy own_rows on rule_versions to earshot_account
  using ((select account_id from rules where id = rule_id) = current_setting('earshot.account')) with check (true);

-- Bytes and outcomes of the account's own webhooks.
do $$
declare
  name text;
begin
  foreach name in array array['webhook_batches', 'deliveries'] loop
    execute format('alter table %I enable row level security', name);
    execute format(
      'create policy own_rows on %I to earshot_account using
         ((select account_id from webhooks where id = webhook_id) = current_setting(''earshot.account''))', name);
  end loop;
end $$;
