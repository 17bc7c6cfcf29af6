import type { Database, Sql } from '../engines/database.ts';
import { leaveSlots } from '../slots/slot-holding.ts';
import { lockRule, pauseRule, undoChange } from './rule-change-store.sql.ts';
import type { OldSlots, RuleUpkeep } from './upkeep.ts';

const batchMax = 100;

/** Each rule in a transaction of its own, and looked at again under its lock. */
export function createRuleUpkeep(database: Database): RuleUpkeep & OldSlots {
  return {
    async due() {
      const rows = await database.many<{ rule_id: string; slot_id: string }>(
        'select rule_id, slot_id from slot_holders where release_at <= now() order by release_at limit $1',
        [batchMax],
      );
      return rows.map((row) => ({ ruleId: row.rule_id, slotId: row.slot_id }));
    },
    async release(slots) {
      let released = 0;
      for (const [ruleId, own] of Map.groupBy(slots, (slot) => slot.ruleId)) {
        const slotIds = own.map(({ slotId }) => slotId);
        released += await database.transaction((sql) => releaseOldSlots(sql, ruleId, slotIds));
      }
      return released;
    },
    async pauseExpired() {
      const rules = await database.many<{ id: string }>(
        `select id from rules where expires_at <= now() and state in ('active', 'failed') and changing_to is null
         order by expires_at limit $1`,
        [batchMax],
      );
      let paused = 0;
      for (const { id } of rules) if (await database.transaction((sql) => pauseIfExpired(sql, id))) paused++;
      return paused;
    },
    async undoChangesOlderThan(ms) {
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

/** Not what the change under way goes back to: its slots are those of a version that is yet to come. */
async function releaseOldSlots(sql: Sql, ruleId: string, slotIds: readonly string[]): Promise<number> {
  await lockRule(sql, ruleId);
  const due = await sql.many<{ slot_id: string }>(
    `select slot_id from slot_holders where rule_id = $1 and slot_id = any($2) and release_at <= now()
       and slot_id not in (
         select v.slot_id from rule_versions v join rules on rules.id = v.rule_id
         where v.rule_id = $1 and v.version > rules.version)`,
    [ruleId, slotIds],
  );
  if (due.length === 0) return 0;
  const released = await leaveSlots(
    sql,
    ruleId,
    due.map((one) => one.slot_id),
  );
  return released.length;
}

async function pauseIfExpired(sql: Sql, ruleId: string): Promise<boolean> {
  const rule = await lockRule(sql, ruleId);
  if (!rule?.expired || rule.state === 'paused' || rule.changing_to !== null) return false;
  await pauseRule(sql, rule, {
    accountId: rule.account_id,
    actor: 'earshot',
    operation: 'ExpireRule',
    requestId: null,
    claim: null,
  });
  return true;
}
