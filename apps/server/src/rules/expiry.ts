import { byEarshot, byOperator } from '../accounts/change.ts';
import { defaultPricing, type RulePricing } from '../billing/prices.ts';
import type { Bells } from '../engines/bells.ts';
import type { Database, Sql } from '../engines/database.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import { expireRule, lockRule, pauseLocked } from './rule-changes.sql.ts';

const batchMax = 100;
const canPause = `state in ('active', 'failed') and changing_to is null`;
const isExpired = `expires_at <= now() and ${canPause}`;
const fromSuspended = `from accounts join rules on rules.account_id = accounts.id where suspended_at is not null and ${canPause}`;

/**
 * Pauses expired rules and rules of suspended accounts. Returns true while suspended accounts may have more active rules.
 */
export async function pauseExpiredRules(options: {
  readonly store: RuleExpiry;
  readonly bells: Bells;
  readonly telemetry: Telemetry;
}): Promise<boolean> {
  const { store, bells, telemetry } = options;
  if (!(await store.mayHaveWork())) return false;
  const suspended = await store.pauseSuspended();
  const expired = await store.pauseExpired();
  telemetry.rulesExpired(expired);
  if (suspended + expired > 0) bells.ring('slots');
  if (expired > 0) bells.ring('notices');
  return suspended > 0;
}

type RuleExpiry = ReturnType<typeof createRuleExpiry>;

/** Each rule is changed in a separate transaction, and read again under its lock. */
export function createRuleExpiry(database: Database, pricing: RulePricing = defaultPricing()) {
  return {
    /** Whether a rule has expired or belongs to a suspended account. One statement, because usually there is none. */
    async mayHaveWork(): Promise<boolean> {
      const [row] = await database.prepared<{ found: boolean }>(
        `select exists (select 1 from rules where ${isExpired}) or exists (select 1 ${fromSuspended}) as found`,
        [],
      );
      return row?.found ?? false;
    },
    /** Returns how many rules it paused. */
    async pauseExpired(): Promise<number> {
      const rules = await database.many<{ id: string }>(
        `select id from rules where ${isExpired} order by expires_at limit $1`,
        [batchMax],
      );
      let paused = 0;
      for (const { id } of rules)
        if (await database.transaction((sql) => pauseIfExpired(sql, id, pricing))) paused++;
      return paused;
    },
    async pauseSuspended(): Promise<number> {
      const rules = await database.many<{ id: string }>(`select rules.id ${fromSuspended} limit $1`, [
        batchMax,
      ]);
      let paused = 0;
      for (const { id } of rules)
        if (await database.transaction((sql) => pauseIfSuspended(sql, id, pricing))) paused++;
      return paused;
    },
  };
}

/** Locks the account as well: a concurrent request that resumes the account finds the rule either paused or still active. */
async function pauseIfSuspended(sql: Sql, ruleId: string, pricing: RulePricing): Promise<boolean> {
  const rule = await lockRule(sql, ruleId);
  if (!rule || rule.state === 'paused' || rule.changing_to !== null) return false;
  const account = await sql.one<{ is_suspended: boolean }>(
    'select suspended_at is not null as is_suspended from accounts where id = $1 for no key update',
    [rule.account_id],
  );
  if (!account?.is_suspended) return false;
  const until = { reason: 'suspension', resumesAt: null } as const;
  await pauseLocked(sql, rule, byOperator(rule.account_id, 'SuspendAccount'), { pricing, until });
  return true;
}

async function pauseIfExpired(sql: Sql, ruleId: string, pricing: RulePricing): Promise<boolean> {
  const rule = await lockRule(sql, ruleId);
  if (!rule?.expired || rule.state === 'paused' || rule.changing_to !== null) return false;
  await pauseLocked(sql, rule, byEarshot(rule.account_id, expireRule), { pricing });
  return true;
}
