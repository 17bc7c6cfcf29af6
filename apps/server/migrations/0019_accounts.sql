-- compatible with 0008_incarnations.sql

-- What an operator decides about accounts (src/accounts/manage-accounts.ts).

-- Every request of an account with another plan failed, so nobody relies on one.
update accounts set plan = 'free' where plan not in ('free', 'paid');
alter table accounts
  add constraint accounts_plan_known check (plan in ('free', 'paid')),
  -- Its keys are refused, its rules paused and its webhooks silent since then.
  add column suspended_at timestamptz,
  -- What differs from the plan, by the names of src/accounts/plans.ts.
  add column limits json not null default '{}';
create index accounts_suspended on accounts (id) where suspended_at is not null;
create index rules_suspended on rules (account_id) where state = 'paused' and paused_for = 'suspension';

-- Accounts that are deleted, or being deleted (src/removals/delete-account.ts). This is all that stays of them.
create table deleted_accounts (
  account_id text primary key,
  begun_at timestamptz not null default now(),
  -- Since then no platform has a rule of it.
  released_at timestamptz,
  deleted_at timestamptz
);

-- The audit of an account goes with the account, and not before: whoever may not write deleted_accounts, which is everybody but the
-- owner, removes nothing from it.
create function refuse_deletion_of_audit() returns trigger language plpgsql as $$
begin
  if exists (select 1 from deleted_accounts where account_id = old.account_id) then return old; end if;
  raise exception 'the audit is append only';
end $$;
drop trigger audit_is_append_only on audit;
create trigger audit_is_append_only before update or truncate on audit
  for each statement execute function refuse_change_of_audit();
create trigger audit_goes_with_its_account before delete on audit
  for each row execute function refuse_deletion_of_audit();
revoke all on function refuse_deletion_of_audit from public;
