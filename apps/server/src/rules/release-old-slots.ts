import type { Bells } from '../engines/bells.ts';
import type { Database, Sql } from '../engines/database.ts';
import { awaitMatched, type MatchProgress } from '../event-log/log-progress.ts';
import { leaveSlots } from '../slots/slot-holding.sql.ts';
import { lockRule } from './rule-changes.sql.ts';

const pollIntervalMs = 500;
const batchMax = 100;

/**
 * After a query was changed: leaves the old slot once every event is matched that was logged while the slot was needed. If matching lags
 * behind, the slot stays, so that no match is lost.
 */
export async function releaseOldSlots(
  options: { readonly store: OldSlots; readonly progress: MatchProgress; readonly bells: Bells },
  signal: AbortSignal,
): Promise<void> {
  const { store, progress, bells } = options;
  const due = await store.due();
  if (due.length === 0) return;
  await awaitMatched(progress, { pollIntervalMs }, signal);
  if (signal.aborted) return;
  if ((await store.release(due)) > 0) bells.ring('slots');
}

interface OldSlot {
  readonly ruleId: string;
  readonly slotId: string;
}

export type OldSlots = ReturnType<typeof createOldSlots>;

export function createOldSlots(database: Database) {
  return {
    /** Slots of superseded rule versions that have been kept long enough. */
    async due(): Promise<OldSlot[]> {
      const rows = await database.prepared<{ rule_id: string; slot_id: string }>(
        'select rule_id, slot_id from slot_holders where release_at <= now() order by release_at limit $1',
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
