import type { Platform } from '@earshot/contract';
import type { Database, Sql } from '../engines/database.ts';
import { newId } from '../runtime/ids.ts';
import { joinCalls } from '../runtime/join-calls.ts';
import { platforms } from '../upstream/platforms.ts';
import type { RuleOptions } from '../upstream/upstream-rules.ts';
import { accountUse, mayCall, msUntilCall, type ShareRefusal, shareRefusal } from './fair-share.sql.ts';
import { isReceiving } from './receiving.sql.ts';
import { type ProblemKind, type SlotState, stateAfter, statesWith, valueHash } from './slot.ts';

/*
 * Taking and leaving slots, always inside the caller's transaction. A slot's row is locked before its holders change, and rows are locked
 * in the order of platform and id, so that two callers never wait for each other.
 */

/** A rule's query on one platform. */
export interface RuleValue {
  readonly platform: Platform;
  /** As the caller wrote it. */
  readonly value: string;
  /** In its canonical form, which is registered upstream. */
  readonly translatedValue: string;
  /** Missing if there are none. */
  readonly options?: RuleOptions;
}

export type Placement =
  /** `live`: the slot is registered upstream and the stream of its source is open. */
  | { readonly kind: 'taken'; readonly slotId: string; readonly live: boolean }
  | { readonly kind: 'no_source'; readonly platform: Platform }
  | { readonly kind: 'sources_full'; readonly platform: Platform; readonly capacity: number }
  | (ShareRefusal & { readonly platform: Platform });

/** The version for which a slot is held; `pending` until the change that needs it is applied. */
export interface Hold {
  readonly version: number;
  readonly pending: boolean;
}

/**
 * Takes the slot of a query, or creates it, and records it for the rule's version. An existing slot needs no room, and no call unless its
 * upstream rule is gone. So neither the capacity nor the account's shares are checked for it.
 */
export async function takeSlot(
  sql: Sql,
  rule: { readonly id: string; readonly accountId: string },
  value: RuleValue,
  hold: Hold = { version: 1, pending: false },
): Promise<Placement> {
  const { platform, translatedValue, options = {} } = value;
  const { accountId } = rule;
  const holding = [
    rule.id,
    accountId,
    platform,
    hold.version,
    hold.pending,
    value.value,
    translatedValue,
    platforms[platform].newRuleId(),
    valueHash(platform, translatedValue, options),
    JSON.stringify(options),
  ];
  const existing = await takeExisting(sql, accountId, value, holding);
  if (existing) return existing;
  // One placement at a time per platform: the capacity is read under this lock, which is held until the commit.
  const sources = await sql.prepared<{ capacity: number; shared: boolean }>(
    `select source_capacity as capacity,
       (select bool_or(account_share < 1) from sources where platform = $1 and enabled) as shared
     from lock_sources($1)`,
    [platform],
  );
  if (sources.length === 0) return { kind: 'no_source', platform };
  const uses = sources[0]?.shared ? await accountUse(sql, accountId, platform) : null;
  const refusal = uses && shareRefusal(uses);
  if (refusal) return { ...refusal, platform };
  const callable = uses && uses.filter(mayCall).map(({ sourceId }) => sourceId);
  const [made] = await sql.prepared<{ id: string }>(holdNew, [...holding, newId('slot'), callable]);
  if (made) return { kind: 'taken', slotId: made.id, live: false };
  // Another transaction has created the slot in the meantime, or there is no room.
  return (
    (await takeExisting(sql, accountId, value, holding)) ?? {
      kind: 'sources_full',
      platform,
      capacity: sources.reduce((sum, one) => sum + one.capacity, 0),
    }
  );
}

interface ExistingSlot {
  readonly id: string;
  readonly source_id: string;
  /** In this state nothing about the slot has to change. */
  readonly unchanged: boolean;
  /** The upstream has its rule. */
  readonly served: boolean;
  /** The upstream does not have its rule, which must be registered again. */
  readonly needs_call: boolean;
  readonly live: boolean;
}

/** Null if there is no slot. Its row changes only if it was released or has a problem: then it is retried. */
async function takeExisting(
  sql: Sql,
  accountId: string,
  { platform }: RuleValue,
  holding: readonly unknown[],
): Promise<Placement | null> {
  const [slot] = await sql.prepared<ExistingSlot>(holdExisting, holding);
  if (!slot) return null;
  if (slot.needs_call) {
    const uses = await accountUse(sql, accountId, platform);
    const waitMs = msUntilCall(uses.filter(({ sourceId }) => sourceId === slot.source_id));
    if (waitMs > 0) return { kind: 'calls_share', platform, waitMs };
  }
  if (!slot.unchanged) {
    await sql.run(
      `update slots set
         state = case when upstream_rule_id is null then ${stateAfter('taken')} else ${stateAfter('taken_known')} end,
         stopped = false, problem = null, problem_kind = null
       where id = $1`,
      [slot.id],
    );
  }
  return { kind: 'taken', slotId: slot.id, live: slot.served && slot.live };
}

/**
 * Writes the holder and the version for `slot`, an earlier part of the statement. A rule that returns to a query which it is about to
 * release still holds that slot. A resumed rule already has its version.
 */
const holdSlot = `, holder as (
    insert into slot_holders (slot_id, rule_id, account_id, platform, rule_version, pending, served_since, applied_from)
    select id, $1, $2, $3, $4, $5, case when served then now() end, case when served then greatest(now(), applied_from) end
    from slot on conflict (slot_id, rule_id) do nothing
  ), version as (
    insert into rule_versions (rule_id, version, platform, value, translated_value, platform_rule_id, slot_id, options)
    select $1, $4, $3, $6, $7, $8, id, $10::json from slot
    on conflict (rule_id, version, platform) do update set slot_id = excluded.slot_id
  ) select * from slot`;

const holdExisting = `with found as (
    select * from slots where platform = $3 and value_hash = $9 for update
  ), slot as (
    select found.id, source_id, found.state not in ${statesWith('taken', 'changes')} and problem is null as unchanged,
      found.state = 'registered' or found.state = 'releasing' and upstream_rule_id is not null as served,
      found.state in ('deleting', 'failed') or found.state = 'releasing' and upstream_rule_id is null as needs_call,
      confirmed_at + rule_delay_ms * interval '1 ms' as applied_from, ${isReceiving} as live
    from found join sources on sources.id = source_id
  ) ${holdSlot}`;

/** On the source with the fewest slots, if one of the named ones has room. Sources without a registrar come last. */
const holdNew = `with room as (
    select id, slots,
      exists (select 1 from leases where name = 'registrar:' || sources.id and expires_at > now()) as has_registrar
    from sources where platform = $3 and enabled and slots < capacity and ($12::text[] is null or id = any($12))
  ), slot as (
    insert into slots (id, platform, source_id, value, value_hash, options, state)
    select $11, $3, id, $7, $9, $10::json, 'wanted' from room order by has_registrar desc, slots, id limit 1
    on conflict (platform, value_hash) do nothing
    returning id, false as served, null::timestamptz as applied_from
  ) ${holdSlot}`;

interface LeaveOptions {
  /** All slots of the rule if missing. */
  readonly only?: readonly string[];
  /** A budget stopped the rule: its upstream rules are removed first, unless another rule holds them. */
  readonly stopped?: boolean;
}

/** Leaves slots of the rule; returns their ids. */
export async function leaveSlots(
  sql: Sql,
  ruleId: string,
  { only, stopped = false }: LeaveOptions = {},
): Promise<string[]> {
  const slots = await sql.many<{ id: string }>(
    `select slots.id from slots join slot_holders on slot_holders.slot_id = slots.id
     where slot_holders.rule_id = $1 and ($2::text[] is null or slots.id = any($2))
     order by slots.platform, slots.id for update of slots`,
    [ruleId, only ?? null],
  );
  const ids = slots.map((slot) => slot.id);
  await sql.run('delete from slot_holders where rule_id = $1 and slot_id = any($2)', [ruleId, ids]);
  const unheld = 'not exists (select 1 from slot_holders where slot_id = slots.id)';
  await sql.run(
    `delete from slots where id = any($1) and state in ${statesWith('left', 'deletes')} and ${unheld}`,
    [ids],
  );
  // A wanted slot may still have the id of an upstream rule that vanished. It must not count as known for the next holder.
  await sql.run(
    `update slots set state = ${stateAfter('left')}, stopped = $2,
       upstream_rule_id = case when state = 'registered' then upstream_rule_id end
     where id = any($1) and state in ${statesWith('left', 'changes')} and ${unheld}`,
    [ids, stopped],
  );
  return ids;
}

/** The accounts with an active rule that the source serves. */
export async function accountsOn(sql: Sql, sourceId: string): Promise<string[]> {
  const rows = await sql.many<{ account_id: string }>(
    `select distinct holders.account_id from slots join slot_holders holders on holders.slot_id = slots.id
     join rules on rules.id = holders.rule_id
     where slots.source_id = $1 and holders.served_since is not null and not holders.pending and rules.state = 'active'`,
    [sourceId],
  );
  return rows.map(({ account_id }) => account_id);
}

/** A slot held by a rule. */
export interface HeldSlot {
  readonly platform: Platform;
  readonly state: SlotState;
  /** Whether the stream of its source is open. */
  readonly live: boolean;
  readonly problem: string | null;
  readonly problemKind: ProblemKind | null;
}

interface HeldSlotRow {
  nth: number;
  platform: Platform;
  state: SlotState;
  live: boolean;
  problem: string | null;
  problem_kind: ProblemKind | null;
}

interface HeldVersion {
  readonly ruleId: string;
  readonly version: number;
}

/** The slots that a rule holds for a version. All waiting requests query when the bell rings: they share one query. */
export function createHeldSlots(database: Database): (version: HeldVersion) => Promise<HeldSlot[]> {
  return joinCalls(async (versions: readonly HeldVersion[]) => {
    const rows = await database.prepared<HeldSlotRow>(
      `select wanted.nth::integer, slots.platform, slots.state,
         ${isReceiving} as live, slots.problem, slots.problem_kind
       -- The inner selects hide the number of elements: otherwise the statement would be planned for each number.
       from unnest((select $1::text[]), (select $2::integer[])) with ordinality as wanted (rule_id, version, nth)
       join rule_versions v on v.rule_id = wanted.rule_id and v.version = wanted.version
       join slot_holders on slot_holders.slot_id = v.slot_id and slot_holders.rule_id = v.rule_id
       join slots on slots.id = slot_holders.slot_id
       join sources on sources.id = slots.source_id
       order by slots.platform desc`,
      [versions.map(({ ruleId }) => ruleId), versions.map(({ version }) => version)],
    );
    const byNumber = Map.groupBy(rows, ({ nth }) => nth);
    return versions.map((_, index) => (byNumber.get(index + 1) ?? []).map(toHeldSlot));
  });
}

function toHeldSlot(row: HeldSlotRow): HeldSlot {
  return {
    platform: row.platform,
    state: row.state,
    live: row.live,
    problem: row.problem,
    problemKind: row.problem_kind,
  };
}
