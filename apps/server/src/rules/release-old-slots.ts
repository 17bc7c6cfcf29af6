import type { Bells } from '../engines/bells.ts';
import type { Database, Sql } from '../engines/database.ts';
import { leaveSlots } from '../slots/slot-holding.sql.ts';
import { lockRule } from './rule-changes.sql.ts';

const batchMax = 100;

/** After a query was changed: leaves the old slot. */
export async function releaseOldSlots({
  store,
  bells,
}: {
  readonly store: OldSlots;
  readonly bells: Bells;
}): Promise<void> {
  const due = await store.due();
  if (due.length > 0 && (await store.release(due)) > 0) bells.ring('slots');
}

interface OldSlot {
  readonly ruleId: string;
  readonly slotId: string;
}

export type OldSlots = ReturnType<typeof createOldSlots>;

export function createOldSlots(database: Database) {
  return {
    /**
     * Slots of superseded rule versions, once every event is matched that was logged while they were needed. If matching lags behind, they
     * stay, so that no match is lost. NATS is not queried: a former leader would report that fewer events are logged.
     */
    async due(): Promise<OldSlot[]> {
      const rows = await database.prepared<{ rule_id: string; slot_id: string }>(
        `select rule_id, slot_id from slot_holders
         where release_at <= (select matched_through from match_progress) order by release_at limit $1`,
        [batchMax],
      );
      return rows.map((row) => ({ ruleId: row.rule_id, slotId: row.slot_id }));
    },
    /** Leaves those slots that no newer version has taken again. Returns how many. */
    async release(slots: readonly OldSlot[]): Promise<number> {
      let released = 0;
      for (const [ruleId, own] of Map.groupBy(slots, (slot) => slot.ruleId)) {
        const slotIds = own.map(({ slotId }) => slotId);
        released += await database.transaction((sql) => releaseDue(sql, ruleId, slotIds));
      }
      return released;
    },
  };
}

/** Keeps the slots of a version that is being registered: a change may return to an old query. */
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
