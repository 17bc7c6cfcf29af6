import type { Platform } from '@earshot/contract';
import type { HeldSlot, NewRule } from '../../rules/rule-store.ts';
import type { ProblemKind, SlotState } from '../../slots/slot.ts';
import { valueHash } from '../../slots/slot.ts';
import type { Database, Sql } from './database.ts';
import { joinCalls } from './join-calls.ts';

interface HeldSlotRow {
  platform: Platform;
  state: SlotState;
  upstream_rule_id: string | null;
  value: string;
  live: boolean;
  problem: string | null;
  problem_kind: ProblemKind | null;
}

const columns = `slots.platform, slots.state, slots.upstream_rule_id, slots.value, sources.live_until > now() as live,
  slots.problem, slots.problem_kind`;

function toHeldSlot(row: HeldSlotRow): HeldSlot {
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
      `select asked.place::integer, ${columns}
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

/**
 * Writes the rule as active and takes its slots, if each of them is registered and listened to; else does nothing and
 * returns null. Nothing of a slot's row changes, so the lock is a shared one: it keeps the last holder from leaving,
 * and the many who take a popular slot do not wait for each other.
 */
export async function takeRegistered(sql: Sql, rule: NewRule): Promise<HeldSlot[] | null> {
  const { id, accountId, name, intent, expiresAt, values } = rule;
  const rows = await sql.prepared<HeldSlotRow>(
    `with asked as (
       select * from unnest($6::text[], $7::bytea[], $8::text[], $9::text[])
         as asked (platform, value_hash, written, translated)
     ), found as (
       select slots.id, asked.written, asked.translated, ${columns}
       from asked
       join slots on slots.platform = asked.platform and slots.value_hash = asked.value_hash
       join sources on sources.id = slots.source_id
       where slots.state = 'registered' and sources.live_until > now()
       order by slots.platform for key share of slots
     ), complete as (
       select 1 from found having count(*) = cardinality($6::text[])
     ), new_rule as (
       insert into rules (id, account_id, name, intent, state, expires_at)
       select $1, $2, $3, $4, 'active', $5 from complete
     ), new_versions as (
       insert into rule_versions (rule_id, version, platform, value, translated_value, slot_id)
       select $1, 1, platform, written, translated, id from found, complete
     ), new_holders as (
       insert into slot_holders (slot_id, rule_id, account_id, platform, rule_version)
       select id, $1, $2, platform, 1 from found, complete
     )
     select platform, state, upstream_rule_id, value, live, problem, problem_kind
     from found, complete order by platform desc`,
    [
      id,
      accountId,
      name,
      intent,
      expiresAt,
      values.map(({ platform }) => platform),
      values.map(({ platform, translatedValue }) => valueHash(platform, translatedValue)),
      values.map(({ value }) => value),
      values.map(({ translatedValue }) => translatedValue),
    ],
  );
  return rows.length === 0 ? null : rows.map(toHeldSlot);
}
