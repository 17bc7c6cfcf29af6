import type { Platform } from '@earshot/contract';
import type { Database } from '../engines/database.ts';
import type { HeldSlot } from '../rules/rule-store.ts';
import { joinCalls } from '../runtime/join-calls.ts';
import type { ProblemKind, SlotState } from './slot.ts';

export interface HeldSlotRow {
  platform: Platform;
  state: SlotState;
  upstream_rule_id: string | null;
  value: string;
  live: boolean;
  problem: string | null;
  problem_kind: ProblemKind | null;
}

export const heldSlotColumns = `slots.platform, slots.state, slots.upstream_rule_id, slots.value, sources.live_until > now() as live,
  slots.problem, slots.problem_kind`;

export function toHeldSlot(row: HeldSlotRow): HeldSlot {
  return {
    platform: row.platform,
    state: row.state,
    upstreamRuleId: row.upstream_rule_id,
    translatedValue: row.value,
    live: row.live,
    problem: row.problem,
    problemKind: row.problem_kind,
  };
}

interface Asked {
  readonly ruleId: string;
  readonly version: number;
}

/** Everybody who waits looks when the bell rings: all of them are one query. */
export function createSlotStates(database: Database): (asked: Asked) => Promise<HeldSlot[]> {
  return joinCalls(async (asked: readonly Asked[]) => {
    const rows = await database.prepared<HeldSlotRow & { place: number }>(
      `select asked.place::integer, ${heldSlotColumns}
       from unnest($1::text[], $2::integer[]) with ordinality as asked (rule_id, version, place)
       join rule_versions v on v.rule_id = asked.rule_id and v.version = asked.version
       join slot_holders on slot_holders.slot_id = v.slot_id and slot_holders.rule_id = v.rule_id
       join slots on slots.id = slot_holders.slot_id
       join sources on sources.id = slots.source_id
       order by slots.platform desc`,
      [asked.map(({ ruleId }) => ruleId), asked.map(({ version }) => version)],
    );
    const byPlace = Map.groupBy(rows, ({ place }) => place);
    return asked.map((_, index) => (byPlace.get(index + 1) ?? []).map(toHeldSlot));
  });
}
