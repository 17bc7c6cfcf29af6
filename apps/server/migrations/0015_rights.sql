-- Rights of the database roles. deploy/postgres-roles.sql has the logins. The owner of the tables, which runs this file, is not restricted. A server with
-- one login for everything acts as these roles by `set role`, which an injected statement can undo.
--
-- earshot_account  acts for one account (src/engines/database.ts, forAccount). Row security hides all other accounts' rows: the second
--                  line behind the statements' own conditions.
-- earshot_rules    also takes and leaves slots, which accounts share.
-- earshot_runtime  the workers, and requests before the account is known.

do $$
declare
  role_name text;
begin
  foreach role_name in array array['earshot_account', 'earshot_rules', 'earshot_runtime'] loop
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
  -- A member has the rights and the policies of the other role as well.
  if not pg_has_role('earshot_rules', 'earshot_account', 'member') then grant earshot_account to earshot_rules; end if;
  if not pg_has_role('earshot_runtime', 'earshot_rules', 'member') then grant earshot_rules to earshot_runtime; end if;
  begin
    -- Even if it seems granted: in PostgreSQL 16 the creator of a role is a member without the right to act as it.
    execute format('grant earshot_runtime to %I', current_user);
  exception
    when insufficient_privilege then null; -- A superuser has created the roles, and the grants with them.
  end;
end $$;

revoke all on all tables in schema public from public;
revoke all on all functions in schema public from public;
grant usage on schema public to earshot_account, earshot_rules, earshot_runtime;

-- row security -----------------------------------------------------------------------------------------------------

-- An account sees its own rows, a worker all rows.
do $$
declare
  name text;
begin
  foreach name in array array['api_keys', 'archive_objects', 'archives', 'audit', 'counts_calls', 'day_heads', 'digest_messages', 'digest_mails', 'digests', 'feeds', 'heads',
    'idempotency_keys', 'judge_usage', 'match_relevance', 'matches', 'mutes', 'notice_log', 'notices', 'platform_counts', 'readers', 'removals', 'removed_matches', 'rules', 'stories', 'story_members', 'usage',
    'watches', 'webhooks'] loop
    execute format('alter table %I enable row level security', name);
    execute format(
      'create policy own_rows on %I to earshot_account using (account_id = current_setting(''earshot.account''))', name);
    execute format('create policy all_rows on %I to earshot_runtime using (true)', name);
  end loop;
  -- An account sees no row of these: they are read before the account is known, or only by workers.
  foreach name in array array['alert_states', 'budget_marks', 'console_links', 'console_sessions', 'oauth_artefacts', 'rule_counts', 'story_keys'] loop
    execute format('alter table %I enable row level security', name);
    execute format('create policy all_rows on %I to earshot_runtime using (true)', name);
  end loop;
  -- Bytes and outcomes of the account's own webhooks.
  foreach name in array array['webhook_batches', 'deliveries'] loop
    execute format('alter table %I enable row level security', name);
    execute format('create policy own_rows on %I to earshot_account using
      ((select account_id from webhooks where id = webhook_id) = current_setting(''earshot.account''))', name);
    execute format('create policy all_rows on %I to earshot_runtime using (true)', name);
  end loop;
  -- Shared by the accounts whose rules have the same query.
  foreach name in array array['slots', 'slot_holders'] loop
    execute format('alter table %I enable row level security', name);
    execute format('create policy shared on %I to earshot_rules using (true)', name);
  end loop;
end $$;

create policy own_rows on slot_holders to earshot_account using (account_id = current_setting('earshot.account'));

alter table accounts enable row level security;
create policy own_rows on accounts to earshot_account using (id = current_setting('earshot.account'));
create policy all_rows on accounts to earshot_runtime using (true);

-- One lookup per row: with `in`, every statement would first collect all rules of the account. A version is written in the statement
-- that writes its rule, whose row it cannot see yet: no check.
alter table rule_versions enable row level security;
create policy own_rows on rule_versions to earshot_account
  using ((select account_id from rules where id = rule_id) = current_setting('earshot.account')) with check (true);
create policy all_rows on rule_versions to earshot_runtime using (true);

-- The slots that the account's rules hold. The query of another slot is what another account watches.
create policy own_rows on slots to earshot_account using (exists (
  select 1 from slot_holders
  where slot_holders.account_id = current_setting('earshot.account')
    and slot_holders.platform = slots.platform and slot_holders.slot_id = slots.id));

-- earshot_account: reads its own rows, and changes its keys, readers, webhooks and digests ----------------------------------

grant select on accounts, api_keys, archive_objects, archives, audit, counts_calls, day_heads, deliveries, digest_messages, digest_mails, digests, feeds, heads,
  idempotency_keys, judge_usage, match_log, match_relevance, match_times, matches, mutes, notice_log, notices, platform_counts, position_jumps, readers, removals,
  removed_matches, rule_versions, rules, slot_holders, stories, story_members, usage, watches, webhook_batches, webhooks to earshot_account;
-- Not the age and the upstream rule of a slot: they would show that other accounts hold it.
grant select (id, platform, source_id, state) on slots to earshot_account;
grant select (id, platform, live_until, state, state_since, rule_delay_ms) on sources to earshot_account;
-- Until when a source received, which is the same for all accounts.
grant select (id, source_id, from_at, proven_until, received_until, ended_because) on coverage to earshot_account;
-- A row lock needs the right to change a column; this one decides nothing.
grant update (name) on accounts to earshot_account;
grant insert, update (revoked_at) on api_keys to earshot_account;
grant insert on audit to earshot_account;
grant update (answer) on idempotency_keys to earshot_account;
grant insert, delete on feeds to earshot_account;
grant insert, update, delete on archives to earshot_account;
grant insert, update, delete on digests, match_relevance, mutes, readers, webhooks to earshot_account;
grant insert, update on counts_calls, platform_counts to earshot_account;
grant delete on webhook_batches to earshot_account;
-- A waiting issue is tried at once when its owner changes the recipient.
grant update (next_attempt_at) on digest_messages to earshot_account;
-- An account resolves notices by what it fixes. Only workers raise them.
grant update (position, changed_at, resolved_at) on notices to earshot_account;
grant update (last_position) on notice_log to earshot_account;
grant execute on function own_rule_with, posts_of, watched_slots, this_server, began_of to earshot_account;

-- earshot_rules ----------------------------------------------------------------------------------------------------

grant insert, update on rules to earshot_rules;
grant select, insert, update, delete on slots to earshot_rules;
grant insert, update, delete on rule_versions, slot_holders to earshot_rules;
grant select, update on sources to earshot_rules;
grant select on leases to earshot_rules;
grant select, insert, delete on slot_departures to earshot_rules;
grant select, insert, update on slot_gaps, slot_services, watches to earshot_rules;
grant update (premium_rules_bound) on accounts to earshot_rules;
grant execute on function account_use, count_rules_on, lock_sources, premium_rules_reached to earshot_rules;

-- earshot_runtime --------------------------------------------------------------------------------------------------

grant select on installation, migrations, plans, position_jumps to earshot_runtime;
grant select, update on event_log, match_log, match_progress to earshot_runtime;
grant select, insert on audit, posts, removals to earshot_runtime;
grant select, insert, update (name) on accounts to earshot_runtime;
grant select, insert, update (last_used_at, revoked_at) on api_keys to earshot_runtime;
grant select, insert, update (times, last_at, message_id, last_position, match_count, latency_ms, response), delete on deliveries
  to earshot_runtime;
grant select on mutes to earshot_runtime;
-- When a feed last changed, and was last read. Only the deletion of an account deletes feeds there.
grant select, update (version, modified_at, last_read_at) on feeds to earshot_runtime;
grant select, insert, delete on console_links, matches, settled_batches, upstream_calls to earshot_runtime;
grant select, insert, update (last_used_at), delete on console_sessions to earshot_runtime;
grant select, insert, update (payload, account_id, expires_at, consumed_at), delete on oauth_artefacts to earshot_runtime;
grant select, insert, update on budget_marks, compliance_checks, coverage, gap_repairs, leases, match_times, notice_log,
  notices, repair_spending, slot_gaps, slot_services, source_usage, sources, usage_checks, watches
  to earshot_runtime;
-- The right to change tombstones is the right to lock them; only the owner may delete one.
grant select, insert, update on tombstones to earshot_runtime;
grant select, insert, update, delete on alert_states, archive_objects, archives, bill_shares, billed, day_heads, dead_letters, digest_messages, digest_mails, digests, heads,
  idempotency_keys, judge_usage, log_check, match_relevance, readers, rule_counts, rules, stories, story_keys, story_members, usage, webhook_batches, webhooks to earshot_runtime;
grant delete on counts_calls, platform_counts to earshot_runtime;
grant execute on function begin_webhook_batch, count_moved_slot, count_new_slots, ensure_partitions, note_match_times, note_old_slots,
  record_service, record_watch, refuse_audit_change, take_positions, take_turn to earshot_runtime;
