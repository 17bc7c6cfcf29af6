-- Who may do what (deploy/postgres-roles.sql has the logins). The owner of the tables, who runs this, is bound by nothing. Whoever
-- starts the server with one login for everything acts as these roles by `set role`, which an injected statement can undo.
do $$
declare
  role_name text;
begin
  foreach role_name in array array['earshot_runtime', 'earshot_rules'] loop
    if not exists (select 1 from pg_roles where rolname = role_name) then
      begin
        execute format('create role %I nologin nobypassrls', role_name);
      exception
        -- Another installation on the same server was faster.
        when duplicate_object or unique_violation then null;
        when insufficient_privilege then
          raise exception 'The database user % may not create roles.', current_user
            using hint = 'Let a superuser run the statements of deploy/postgres-roles.sql first.';
      end;
    end if;
  end loop;
  -- A member has the rights, and the policies, of the other as well.
  if not pg_has_role('earshot_rules', 'earshot_account', 'member') then grant earshot_account to earshot_rules; end if;
  if not pg_has_role('earshot_runtime', 'earshot_rules', 'member') then grant earshot_rules to earshot_runtime; end if;
  begin
    -- Also when it seems granted: in PostgreSQL 16 who makes a role is its member without the right to act as it.
    execute format('grant earshot_runtime to %I', current_user);
  exception
    when insufficient_privilege then null; -- A superuser has made the roles, and the grants with them.
  end;
end $$;

revoke all on all tables in schema public from public, earshot_account;
revoke all on all functions in schema public from public;
grant usage on schema public to earshot_account, earshot_rules, earshot_runtime;

-- earshot_account: what an account reads, and its own keys, readers and webhooks -----------------------------------------

grant select on accounts, api_keys, audit, idempotency_keys, rules, rule_versions, usage, watches, matches, removed_matches,
  readers, webhooks, webhook_batches, deliveries, slots, slot_holders, slot_services, match_log to earshot_account;
grant select (id, platform, live_until) on sources to earshot_account;
-- A row lock needs the right to change some column; this one decides nothing.
grant update (name) on accounts to earshot_account;
grant insert, update (revoked_at) on api_keys to earshot_account;
grant insert on audit to earshot_account;
grant update (answer) on idempotency_keys to earshot_account;
grant insert, update, delete on readers, webhooks to earshot_account;
grant delete on webhook_batches to earshot_account;

-- Its own slots: those that its rules hold. The value of another is what another account watches.
alter table slot_holders enable row level security;
create policy own_rows on slot_holders to earshot_account using (account_id = current_setting('earshot.account'));
alter table slots enable row level security;
create policy own_rows on slots to earshot_account using (exists (
  select 1 from slot_holders
  where slot_holders.account_id = current_setting('earshot.account')
    and slot_holders.platform = slots.platform and slot_holders.slot_id = slots.id));

-- A post belongs to nobody, and is found by the matches with it: whoever has none of them does not get it.
create function posts_of(rule_ids text[], event_keys text[], platforms text[], event_days date[])
returns table (rule_id text, event_key text, event_day date, platform_post_id text, payload text)
language plpgsql stable security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
begin
  -- The inner limits make it one index look-up per match: a plain join might read all posts.
  return query
    select given.rule_id, given.event_key, given.event_day, found.platform_post_id, found.payload
    from unnest(rule_ids, event_keys, platforms, event_days) as given (rule_id, event_key, platform, event_day)
    join lateral (
      select 1 from matches where matches.rule_id = given.rule_id and matches.event_key = given.event_key
        and matches.event_day = given.event_day and matches.account_id = current_setting('earshot.account') limit 1
    ) as own on true
    join lateral (
      select posts.platform_post_id, posts.payload from posts where posts.event_key = given.event_key
        and posts.platform = given.platform and posts.event_day = given.event_day limit 1
    ) as found on true;
end $$;
grant execute on function posts_of to earshot_account;

-- earshot_rules: changes of rules, which take and leave slots that others hold as well ------------------------------------

grant insert, update on rules to earshot_rules;
grant insert, update, delete on rule_versions, slots, slot_holders to earshot_rules;
grant select, update on sources to earshot_rules;
grant select on leases to earshot_rules;
grant select, insert, delete on slot_departures to earshot_rules;
grant select, insert, update on watches, slot_services, slot_gaps to earshot_rules;
grant execute on function count_rules_on, lock_sources, account_use to earshot_rules;
create policy shared on slots to earshot_rules using (true);
create policy shared on slot_holders to earshot_rules using (true);

-- earshot_runtime: the workers, and whatever is asked before the account is known -----------------------------------------

grant select on installation, migrations to earshot_runtime;
grant select, update on match_log, match_progress to earshot_runtime;
grant select, insert, update on leases, sources, coverage, gap_repairs, repair_spending, watches, slot_services, slot_gaps
  to earshot_runtime;
grant select, insert, update (name) on accounts to earshot_runtime;
grant select, insert, update (last_used_at, revoked_at) on api_keys to earshot_runtime;
grant select, insert on audit, posts to earshot_runtime;
grant select, insert, delete on matches, settled_batches, upstream_calls, deliveries to earshot_runtime;
grant select, insert, update, delete on rules, idempotency_keys, usage, dead_letters, log_check, readers, webhooks, webhook_batches
  to earshot_runtime;
grant execute on all functions in schema public to earshot_runtime;
do $$
declare
  name text;
begin
  for name in select relname from pg_class
    where relnamespace = 'public'::regnamespace and relrowsecurity and relname not in ('slots', 'slot_holders') loop
    execute format('create policy all_rows on %I to earshot_runtime using (true)', name);
  end loop;
end $$;

-- Partitions are made by whoever stores an event; only the owner of the table can.
alter function ensure_partitions security definer set search_path = public, pg_temp;
