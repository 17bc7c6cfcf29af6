import type { Sql } from '../engines/database.ts';
import { type Slot, type SlotRow, slotColumns, statesWith, toSlot } from './slot.ts';

/*
 * An account cannot tell that others hold its slot (docs/adr/0026-quiet-sharing.md). So it is served only when the registrar says
 * so, and whoever leaves a slot to others leaves a note, for which the registrar does as if it removed the slot.
 */

export interface AwaitedSlot extends Slot {
  /** Who waits; of a slot that was lost, who has held it longest. */
  readonly accountIds: readonly string[];
}

/** An account that has left a slot which others hold. */
export interface LeftSlot {
  readonly slotId: string;
  readonly accountId: string;
}

/**
 * Slots that somebody waits for, who waits longest first: `wanted` ones, without those that were moved away and came back, and
 * `registered` ones with a holder who does not know it yet.
 */
export async function awaited(sql: Sql, sourceId: string, limit: number): Promise<AwaitedSlot[]> {
  const rows = await sql.many<SlotRow & { account_ids: string[] }>(
    `select ${slotColumns}, coalesce(
       (select array_agg(distinct account_id) from slot_holders where slot_id = slots.id and served_since is null),
       (select array[account_id] from slot_holders where slot_id = slots.id order by since, rule_id limit 1),
       '{}') as account_ids
     from (
       (select slots.*, created_at as waits_since from slots
        where source_id = $1 and state = 'wanted' and moved_from is distinct from source_id
        order by created_at limit $2)
       union all
       (select slots.*, waiting.since from slots
        join (select slot_id, min(since) as since from slot_holders where served_since is null group by slot_id) as waiting
          on waiting.slot_id = slots.id
        where source_id = $1 and state = 'registered')
     ) as slots order by waits_since limit $2`,
    [sourceId, limit],
  );
  return rows.map((row) => ({ ...toSlot(row), accountIds: row.account_ids }));
}

/**
 * Whether a source may have something to do: slots that are wanted or to be removed, and accounts that wait for one or have left
 * one. One statement instead of one for each, because most of the time there is nothing.
 */
export async function mayHaveWork(sql: Sql, sourceId: string): Promise<boolean> {
  const [row] = await sql.prepared<{ found: boolean }>(
    `select exists (select 1 from slots where source_id = $1
         and (state in ${statesWith('registered', 'changes')} or state in ${statesWith('picked', 'changes')}))
       or exists (select 1 from slot_leavings join slots on slots.id = slot_id where source_id = $1)
       or exists (select 1 from slot_holders join slots on slots.id = slot_id
         where served_since is null and source_id = $1 and state = 'registered') as found`,
    [sourceId],
  );
  return row?.found ?? false;
}

/**
 * Of these slots, whoever holds one that is registered is served from now on. Rules are locked before holders, as everybody
 * does who changes a rule: the trigger refers to them. So this is a transaction of its own, without slots locked before.
 */
export async function recordServed(sql: Sql, slotIds: readonly string[]): Promise<void> {
  const waiting = `slot_id = any($1) and served_since is null
    and exists (select 1 from slots where slots.id = slot_id and state = 'registered')`;
  const rules = await sql.many<{ id: string }>(
    `select id from rules where id in (select rule_id from slot_holders where ${waiting}) order by id for key share`,
    [slotIds],
  );
  await sql.run(`update slot_holders set served_since = now() where ${waiting} and rule_id = any($2)`, [
    slotIds,
    rules.map(({ id }) => id),
  ]);
}

/** Which of the slots that were left: all, or only those that a budget has stopped. */
export type Left = 'all' | 'stopped';

/** That an account left the slot because a budget stopped a rule, in a statement about `slot_leavings`. */
const leftByStop = `exists (
  select 1 from rules join rule_versions as versions on versions.rule_id = rules.id and versions.version = rules.version
  where rules.account_id = slot_leavings.account_id and rules.state = 'paused' and rules.paused_for = 'budget'
    and versions.slot_id = slot_leavings.slot_id)`;

/** The same in a statement about `slots`. */
export const slotStopped = `exists (select 1 from slot_leavings where slot_id = slots.id and ${leftByStop})`;

/** Whoever left the slots of the source that others still hold, or hold again. */
export async function leftToOthers(
  sql: Sql,
  { sourceId, left, limit }: { sourceId: string; left: Left; limit: number },
): Promise<LeftSlot[]> {
  return await sql.many<LeftSlot>(
    `select slot_id as "slotId", account_id as "accountId" from slot_leavings join slots on slots.id = slot_id
     where source_id = $1 and slots.state not in ('releasing', 'deleting')
       ${left === 'stopped' ? `and ${leftByStop}` : ''} order by left_at limit $2`,
    [sourceId, limit],
  );
}

export async function recordLeft(sql: Sql, left: readonly LeftSlot[]): Promise<void> {
  await sql.run(
    `delete from slot_leavings using unnest($1::text[], $2::text[]) as done (slot_id, account_id)
     where slot_leavings.slot_id = done.slot_id and slot_leavings.account_id = done.account_id`,
    [left.map(({ slotId }) => slotId), left.map(({ accountId }) => accountId)],
  );
}
