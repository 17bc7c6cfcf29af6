import { byEarshot, byOperator } from '../accounts/change.ts';
import { defaultPrices, type Prices } from '../billing/prices.ts';
import type { Bells } from '../engines/bells.ts';
import type { Database, Sql } from '../engines/database.ts';
import { awaitMatched, type MatchProgress } from '../event-log/log-progress.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import { leaveSlots } from '../slots/slot-holding.sql.ts';
import { answerWithinMs } from './await-registration.ts';
import { expireRule, lockRule, pauseLocked, undoChange } from './rule-changes.sql.ts';
import type { RuleStore } from './rule-store.sql.ts';

/** Longer than a creation or a change may take, so that nobody is still waiting for it. */
const abandonedAfterMs = answerWithinMs + 2_000;
const matchedLookMs = 500;
const batchMax = 100;

/** Undoes creations whose process died before it answered: nobody was told of them. */
export async function undoAbandonedCreations(options: {
  readonly store: Pick<RuleStore, 'abandonOlderThan'>;
  readonly bells: Bells;
  readonly telemetry: Telemetry;
}): Promise<void> {
  const undone = await options.store.abandonOlderThan(abandonedAfterMs);
  options.telemetry.abandonedCreationsUndone(undone);
  if (undone > 0) options.bells.ring('slots');
}

/**
 * Pauses rules that have expired, and rules of suspended accounts, also those whose creation or change was under way; undoes
 * changes whose process died before it answered. True while there may be more of suspended accounts.
 */
export async function upkeepRules(options: {
  readonly store: Pick<
    RuleUpkeep,
    'mayHaveWork' | 'pauseExpired' | 'undoChangesOlderThan' | 'pauseSuspended'
  >;
  readonly bells: Bells;
  readonly telemetry: Telemetry;
}): Promise<boolean> {
  const { store, bells, telemetry } = options;
  if (!(await store.mayHaveWork())) return false;
  const suspended = await store.pauseSuspended();
  const expired = await store.pauseExpired();
  const undone = await store.undoChangesOlderThan(abandonedAfterMs);
  telemetry.rulesExpired(expired);
  telemetry.abandonedChangesUndone(undone);
  if (suspended + expired + undone > 0) bells.ring('slots');
  if (expired > 0) bells.ring('notices');
  return suspended > 0;
}

/**
 * After a change of value: leaves the old slot once every event that was logged while it was needed has been matched.
 * When matching lags behind, this waits for it, so that no match is lost.
 */
export async function releaseOldSlots(
  options: {
    readonly store: Pick<RuleUpkeep, 'due' | 'release'>;
    readonly progress: MatchProgress;
    readonly bells: Bells;
  },
  signal: AbortSignal,
): Promise<void> {
  const { store, progress, bells } = options;
  const due = await store.due();
  if (due.length === 0) return;
  await awaitMatched(progress, { lookEveryMs: matchedLookMs }, signal);
  if (signal.aborted) return;
  if ((await store.release(due)) > 0) bells.ring('slots');
}

interface OldSlot {
  readonly ruleId: string;
  readonly slotId: string;
}

const canPause = `state in ('active', 'failed') and changing_to is null`;
const isExpired = `expires_at <= now() and ${canPause}`;
const fromSuspended = `from accounts join rules on rules.account_id = accounts.id where suspended_at is not null and ${canPause}`;

export type RuleUpkeep = ReturnType<typeof createRuleUpkeep>;

/** Each rule is changed in a transaction of its own, and read again under its lock. */
export function createRuleUpkeep(database: Database, prices: Prices = defaultPrices()) {
  return {
    /** Whether a rule has expired, is being changed or belongs to a suspended account: mostly none, which one statement finds. */
    async mayHaveWork(): Promise<boolean> {
      const [row] = await database.prepared<{ found: boolean }>(
        `select exists (select 1 from rules where ${isExpired}) or exists (select 1 from rules where changing_to is not null)
           or exists (select 1 ${fromSuspended}) as found`,
        [],
      );
      return row?.found ?? false;
    },
    /** Slots that rules hold for an older version, and that have been kept long enough. */
    async due(): Promise<OldSlot[]> {
      const rows = await database.prepared<{ rule_id: string; slot_id: string }>(
        'select rule_id, slot_id from slot_holders where release_at <= now() order by release_at limit $1',
        [batchMax],
      );
      return rows.map((row) => ({ ruleId: row.rule_id, slotId: row.slot_id }));
    },
    /** Leaves those of them that no newer version has taken up again; returns how many. */
    async release(slots: readonly OldSlot[]): Promise<number> {
      let released = 0;
      for (const [ruleId, own] of Map.groupBy(slots, (slot) => slot.ruleId)) {
        const slotIds = own.map(({ slotId }) => slotId);
        released += await database.transaction((sql) => releaseDue(sql, ruleId, slotIds));
      }
      return released;
    },
    /** Returns how many rules it paused. */
    async pauseExpired(): Promise<number> {
      const rules = await database.many<{ id: string }>(
        `select id from rules where ${isExpired} order by expires_at limit $1`,
        [batchMax],
      );
      let paused = 0;
      for (const { id } of rules)
        if (await database.transaction((sql) => pauseIfExpired(sql, id, prices))) paused++;
      return paused;
    },
    async pauseSuspended(): Promise<number> {
      const rules = await database.many<{ id: string }>(`select rules.id ${fromSuspended} limit $1`, [
        batchMax,
      ]);
      let paused = 0;
      for (const { id } of rules)
        if (await database.transaction((sql) => pauseIfSuspended(sql, id, prices))) paused++;
      return paused;
    },
    async undoChangesOlderThan(ms: number): Promise<number> {
      const rules = await database.many<{ id: string }>(
        `select id from rules where changing_to is not null and state <> 'deleted'
           and changing_since < now() - $1 * interval '1 ms' limit $2`,
        [ms, batchMax],
      );
      for (const { id } of rules) await database.transaction((sql) => undoChange(sql, id));
      return rules.length;
    },
  };
}

/** Not the slots of a version that is yet to come: a change under way may have gone back to an old value. */
async function releaseDue(sql: Sql, ruleId: string, slotIds: readonly string[]): Promise<number> {
  await lockRule(sql, ruleId);
  const due = await sql.many<{ slot_id: string }>(
    `select slot_id from slot_holders where rule_id = $1 and slot_id = any($2) and release_at <= now()
       and slot_id not in (
         select v.slot_id from rule_versions v join rules on rules.id = v.rule_id
         where v.rule_id = $1 and v.version > rules.version)`,
    [ruleId, slotIds],
  );
  if (due.length === 0) return 0;
  const released = await leaveSlots(sql, ruleId, { only: due.map((one) => one.slot_id) });
  return released.length;
}

/** Under the lock of the account, so that whoever resumes it finds the rule paused, or not yet. */
async function pauseIfSuspended(sql: Sql, ruleId: string, prices: Prices): Promise<boolean> {
  const rule = await lockRule(sql, ruleId);
  if (!rule || rule.state === 'paused' || rule.changing_to !== null) return false;
  const account = await sql.one<{ is_suspended: boolean }>(
    'select suspended_at is not null as is_suspended from accounts where id = $1 for no key update',
    [rule.account_id],
  );
  if (!account?.is_suspended) return false;
  const until = { reason: 'suspension', resumesAt: null } as const;
  await pauseLocked(sql, rule, byOperator(rule.account_id, 'SuspendAccount'), { prices, until });
  return true;
}

async function pauseIfExpired(sql: Sql, ruleId: string, prices: Prices): Promise<boolean> {
  const rule = await lockRule(sql, ruleId);
  if (!rule?.expired || rule.state === 'paused' || rule.changing_to !== null) return false;
  await pauseLocked(sql, rule, byEarshot(rule.account_id, expireRule), { prices });
  return true;
}
