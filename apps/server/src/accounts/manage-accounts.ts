import type { Budget } from '@earshot/contract';
import type { Database, Sql } from '../engines/database.ts';
import { newId } from '../runtime/ids.ts';
import { byOperator, recordChange } from './change.ts';
import { isValid } from './keys.ts';
import { type AccountLimits, type LimitName, limitNames, type PlanName } from './plans.ts';

/*
 * Account management for the operator, with the login that owns the tables. Suspending and resuming only set the wanted state:
 * nodes pause and resume the rules (rules/expiry.ts, budgets/resume-after-budget.ts), so an interruption leaves nothing half done.
 */

export interface AccountRow {
  readonly id: string;
  readonly name: string;
  readonly plan: PlanName;
  readonly limits: Partial<AccountLimits>;
  readonly budget: Budget | null;
  readonly created_at: Date;
  readonly suspended_at: Date | null;
  /** When its deletion began; null if it was not begun. */
  readonly deletion_begun_at: Date | null;
  /** Rules that listen, and all other rules that are not deleted. */
  readonly rules_active: number;
  readonly rules_paused: number;
  readonly keys: number;
  readonly webhooks: number;
  readonly readers: number;
  /** In the last UTC days, including today. */
  readonly matches: number;
}

/** All accounts, oldest first, or the named one. */
export async function readAccounts(
  sql: Sql,
  { accountId = null, days }: { accountId?: string | null; days: number },
): Promise<AccountRow[]> {
  return await sql.many<AccountRow>(
    `select accounts.id, name, plan, limits, budget, created_at, suspended_at, begun_at as deletion_begun_at,
       (select count(*) from rules where account_id = accounts.id and state in ('active', 'failed')) as rules_active,
       (select count(*) from rules where account_id = accounts.id and state = 'paused') as rules_paused,
       (select count(*) from api_keys where account_id = accounts.id and ${isValid}) as keys,
       (select count(*) from webhooks where account_id = accounts.id) as webhooks,
       (select count(*) from readers where account_id = accounts.id) as readers,
       (select coalesce(sum(matches), 0)::bigint from usage
        where account_id = accounts.id and day > (now() at time zone 'UTC')::date - $2::integer) as matches
     from accounts left join deleted_accounts on account_id = accounts.id
     where $1::text is null or accounts.id = $1 order by accounts.id`,
    [accountId, days],
  );
}

export async function createAccount(
  database: Database,
  after: { readonly name: string; readonly plan: PlanName },
): Promise<{ accountId: string }> {
  const accountId = newId('acc');
  await database.transaction(async (sql) => {
    await sql.run('insert into accounts (id, name, plan) values ($1, $2, $3)', [
      accountId,
      after.name,
      after.plan,
    ]);
    const created = { targetId: accountId, before: null, after, answer: {} };
    await recordChange(sql, byOperator(accountId, 'CreateAccount'), created);
  });
  return { accountId };
}

interface LockedAccount {
  readonly plan: PlanName;
  readonly limits: Partial<AccountLimits>;
  readonly suspended_at: Date | null;
}

/** Changes the account's row under its lock and records the change, unless nothing changes. Null when there is no such account. */
async function change<Facts extends object>(
  database: Database,
  accountId: string,
  operation: string,
  decide: (before: LockedAccount) => { set: string; value: unknown; before: Facts; after: Facts } | null,
): Promise<LockedAccount | null> {
  return await database.transaction(async (sql) => {
    const account = await sql.one<LockedAccount>(
      'select plan, limits, suspended_at from accounts where id = $1 for update',
      [accountId],
    );
    const decided = account && decide(account);
    if (!decided) return account;
    const { set, value, before, after } = decided;
    await sql.run(`update accounts set ${set} where id = $1`, [accountId, value]);
    await recordChange(sql, byOperator(accountId, operation), {
      targetId: accountId,
      before,
      after,
      answer: {},
    });
    return account;
  });
}

export async function setPlan(database: Database, accountId: string, plan: PlanName): Promise<boolean> {
  const account = await change(database, accountId, 'SetPlan', (before) => ({
    set: 'plan = $2',
    value: plan,
    before: { plan: before.plan },
    after: { plan },
  }));
  return account !== null;
}

/** Null resets a limit to that of the plan. Omitted limits do not change. */
export type NewLimits = { readonly [Name in LimitName]?: number | null };

export async function setLimits(
  database: Database,
  accountId: string,
  changed: NewLimits,
): Promise<Partial<AccountLimits> | null> {
  let limits: Partial<AccountLimits> = {};
  const account = await change(database, accountId, 'SetLimits', (before) => {
    const all = Object.entries({ ...before.limits, ...changed });
    limits = Object.fromEntries(all.filter(([, value]) => value !== null));
    return {
      set: 'limits = $2',
      value: JSON.stringify(limits),
      before: { limits: before.limits },
      after: { limits },
    };
  });
  return account && limits;
}

export interface PlanRow extends AccountLimits {
  readonly name: PlanName;
}

/** Paid plan first. */
export async function readPlans(sql: Sql): Promise<PlanRow[]> {
  return await sql.many<PlanRow>(`select name, ${limitNames.join(', ')} from plans order by name desc`);
}

/** Omitted limits do not change. */
export async function setPlanLimits(
  database: Database,
  plan: PlanName,
  changed: Partial<AccountLimits>,
): Promise<PlanRow> {
  const row = await database.one<PlanRow>(
    `update plans set (${limitNames.join(', ')}) =
       (select ${limitNames.join(', ')} from jsonb_populate_record(plans, $2)) where name = $1
     returning name, ${limitNames.join(', ')}`,
    [plan, JSON.stringify(changed)],
  );
  if (!row) throw new Error(`the database has no plan "${plan}"`);
  return row;
}

const suspended = (value: boolean) => ({ set: 'suspended_at = case when $2 then now() end', value });

/** Does nothing if the account is already suspended. */
export async function suspendAccount(database: Database, accountId: string): Promise<boolean> {
  const account = await change(database, accountId, 'SuspendAccount', ({ suspended_at }) =>
    suspended_at === null
      ? { ...suspended(true), before: { suspended: false }, after: { suspended: true } }
      : null,
  );
  return account !== null;
}

export async function resumeAccount(database: Database, accountId: string): Promise<boolean> {
  const account = await change(database, accountId, 'ResumeAccount', ({ suspended_at }) =>
    suspended_at === null
      ? null
      : { ...suspended(false), before: { suspended: true }, after: { suspended: false } },
  );
  // A rule that has expired in the meantime stays paused, and not because of the suspension.
  await database.run(
    `update rules set pause_reason = null
     where account_id = $1 and state = 'paused' and pause_reason = 'suspension' and expires_at <= now()`,
    [accountId],
  );
  return account !== null;
}
