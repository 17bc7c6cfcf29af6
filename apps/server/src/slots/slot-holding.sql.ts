import type { Platform } from '@earshot/contract';
import type { Database, Sql } from '../engines/database.ts';
import { newId } from '../runtime/ids.ts';
import { joinCalls } from '../runtime/join-calls.ts';
import { platforms } from '../upstream/platforms.ts';
import { type ProblemKind, type SlotState, stateAfter, statesWith, valueHash } from './slot.ts';

/*
 * Taking and leaving slots, always inside the caller's transaction. A slot's row is locked before its holders
 * change, and rows are locked in the order of platform and id, so two callers never wait for each other.
 */

/** What a rule asks of one platform. */
export interface RuleValue {
  readonly platform: Platform;
  /** As the caller wrote it. */
  readonly value: string;
  /** In its canonical form, which is registered upstream. */
  readonly translatedValue: string;
}

export type Placement =
  | { readonly kind: 'taken'; readonly slotId: string }
  | { readonly kind: 'no_source'; readonly platform: Platform }
  | { readonly kind: 'sources_full'; readonly platform: Platform; readonly capacity: number };

/** For which version a slot is held; `pending` until the change that needs it is applied. */
export interface Hold {
  readonly version: number;
  readonly pending: boolean;
}

/** Takes the slot of a value, or makes it, and writes it down as the slot of the rule's version. */
export async function takeSlot(
  sql: Sql,
  rule: { readonly id: string; readonly accountId: string },
  value: RuleValue,
  hold: Hold = { version: 1, pending: false },
): Promise<Placement> {
  const { platform, translatedValue } = value;
  const hash = valueHash(platform, translatedValue);
  const holding = [
    rule.id,
    rule.accountId,
    platform,
    hold.version,
    hold.pending,
    value.value,
    translatedValue,
    platforms[platform].newRuleId(),
  ];
  const takeExisting = async (): Promise<Placement | null> => {
    const slot = await lockExisting(sql, rule.accountId, platform, hash);
    if (slot === null) return null;
    // Refused like a new value, for which there is no place: otherwise the answer would tell that others watch it.
    if (!slot.own && slot.capacity === null) return { kind: 'no_source', platform };
    if (!slot.own && !slot.room) return { kind: 'sources_full', platform, capacity: slot.capacity ?? 0 };
    await sql.prepared(holdExisting, [...holding, slot.id, slot.served]);
    return { kind: 'taken', slotId: slot.id };
  };
  const before = await takeExisting();
  if (before) return before;
  // One placement at a time per platform: the capacity is read under this lock, which is held until the commit.
  const sources = await sql.prepared<{ capacity: number }>(
    'select source_capacity as capacity from lock_sources($1)',
    [platform],
  );
  if (sources.length === 0) return { kind: 'no_source', platform };
  const [made] = await sql.prepared<{ id: string }>(holdNew, [...holding, newId('slot'), hash]);
  if (made) return { kind: 'taken', slotId: made.id };
  // Another transaction made the same slot first, or there is no room.
  const capacity = sources.reduce((sum, one) => sum + one.capacity, 0);
  return (await takeExisting()) ?? { kind: 'sources_full', platform, capacity };
}

interface ExistingSlot {
  id: string;
  unchanged: boolean;
  /** Another rule of the account holds it, or is even served by it: it is no news to the account. */
  own: boolean;
  served: boolean;
  /** Whether a new slot would find a place, and among how many; null without a source. */
  room: boolean;
  capacity: number | null;
}

/** An existing slot's row changes only when it was given up, or has a problem: then it is tried again. */
async function lockExisting(
  sql: Sql,
  accountId: string,
  platform: Platform,
  hash: Buffer,
): Promise<ExistingSlot | null> {
  const [slot] = await sql.prepared<ExistingSlot>(
    `select id, state not in ${statesWith('taken', 'changes')} and problem is null as unchanged,
       coalesce(mine.own, false) as own, coalesce(mine.served and state = 'registered', false) as served, place.*
     from slots
     left join lateral (
       select true as own, bool_or(served_since is not null) as served from slot_holders
       where account_id = $3 and platform = $1 and slot_id = slots.id
       having count(*) > 0
     ) as mine on true
     cross join (
       select sum(capacity)::integer as capacity, coalesce(bool_or(capacity > sources.slots - coalesce(
         (select sum(gone.slots) from slot_departures gone where gone.source_id = sources.id), 0)), false) as room
       from sources where platform = $1 and enabled
     ) as place
     where slots.platform = $1 and value_hash = $2 for update of slots`,
    [platform, hash, accountId],
  );
  if (slot && !slot.unchanged) {
    await sql.run(
      `update slots set
         state = case when upstream_rule_id is null then ${stateAfter('taken')} else ${stateAfter('taken_known')} end,
         problem = null, problem_kind = null
       where id = $1`,
      [slot.id],
    );
  }
  return slot ?? null;
}

/**
 * Writes the holder and the version for `slot`, the statement's first part. A rule that goes back to a value which it
 * is about to release still holds that slot; one that is resumed already has its version.
 */
const holdSlot = `, holder as (
    insert into slot_holders (slot_id, rule_id, account_id, platform, rule_version, pending, served_since)
    select id, $1, $2, $3, $4, $5, case when served then now() end from slot on conflict (slot_id, rule_id) do nothing
  ), version as (
    insert into rule_versions (rule_id, version, platform, value, translated_value, platform_rule_id, slot_id)
    select $1, $4, $3, $6, $7, $8, id from slot
    on conflict (rule_id, version, platform) do update set slot_id = excluded.slot_id
  ) select id from slot`;

const holdExisting = `with slot as (select $9::text as id, $10::boolean as served) ${holdSlot}`;

/** On the source with the fewest slots, if one has room; sources without a registrar at the moment come last. */
const holdNew = `with room as (
    select id, slots,
      exists (select 1 from leases where name = 'registrar:' || sources.id and expires_at > now()) as served
    from sources where platform = $3 and enabled and slots < capacity
  ), slot as (
    insert into slots (id, platform, source_id, value, value_hash, state)
    select $9, $3, id, $7, $10, 'wanted' from room order by served desc, slots, id limit 1
    on conflict (platform, value_hash) do nothing
    returning id, false as served
  ) ${holdSlot}`;

/** Leaves all slots of the rule, or those that are named; returns their ids. */
export async function leaveSlots(
  sql: Sql,
  ruleId: string,
  only: readonly string[] | null = null,
): Promise<string[]> {
  const slots = await sql.many<{ id: string }>(
    `select slots.id from slots join slot_holders on slot_holders.slot_id = slots.id
     where slot_holders.rule_id = $1 and ($2::text[] is null or slots.id = any($2))
     order by slots.platform, slots.id for update of slots`,
    [ruleId, only],
  );
  const ids = slots.map((slot) => slot.id);
  await sql.run('delete from slot_holders where rule_id = $1 and slot_id = any($2)', [ruleId, ids]);
  const unheld = 'not exists (select 1 from slot_holders where slot_id = slots.id)';
  await sql.run(
    `delete from slots where id = any($1) and state in ${statesWith('left', 'deletes')} and ${unheld}`,
    [ids],
  );
  // A wanted slot may still have the id of an upstream rule that vanished: it must not count as known for the next holder.
  await sql.run(
    `update slots set state = ${stateAfter('left')},
       upstream_rule_id = case when state = 'registered' then upstream_rule_id end
     where id = any($1) and state in ${statesWith('left', 'changes')} and ${unheld}`,
    [ids],
  );
  return ids;
}

/** A slot as whoever waits for it sees it. */
export interface HeldSlot {
  readonly platform: Platform;
  /** `wanted` until its source serves the rule, also while it serves others. */
  readonly state: SlotState;
  /** As the rule's account is shown it. */
  readonly platformRuleId: string;
  readonly translatedValue: string;
  /** Whether the stream of its source is open. */
  readonly live: boolean;
  readonly problem: string | null;
  readonly problemKind: ProblemKind | null;
}

interface HeldSlotRow {
  nth: number;
  platform: Platform;
  state: SlotState;
  platform_rule_id: string;
  value: string;
  live: boolean;
  problem: string | null;
  problem_kind: ProblemKind | null;
}

interface HeldVersion {
  readonly ruleId: string;
  readonly version: number;
}

/** The slots that a rule holds for a version. Everybody who waits asks when the bell rings: they share one query. */
export function createHeldSlots(database: Database): (asked: HeldVersion) => Promise<HeldSlot[]> {
  return joinCalls(async (asked: readonly HeldVersion[]) => {
    const rows = await database.prepared<HeldSlotRow>(
      `select asked.nth::integer, slots.platform, v.platform_rule_id, slots.value,
         case when slots.state = 'registered' and slot_holders.served_since is null then 'wanted'
           else slots.state end as state,
         sources.live_until > now() as live, slots.problem, slots.problem_kind
       from unnest($1::text[], $2::integer[]) with ordinality as asked (rule_id, version, nth)
       join rule_versions v on v.rule_id = asked.rule_id and v.version = asked.version
       join slot_holders on slot_holders.slot_id = v.slot_id and slot_holders.rule_id = v.rule_id
       join slots on slots.id = slot_holders.slot_id
       join sources on sources.id = slots.source_id
       order by slots.platform desc`,
      [asked.map(({ ruleId }) => ruleId), asked.map(({ version }) => version)],
    );
    const byAsked = Map.groupBy(rows, ({ nth }) => nth);
    return asked.map((_, index) => (byAsked.get(index + 1) ?? []).map(toHeldSlot));
  });
}

function toHeldSlot(row: HeldSlotRow): HeldSlot {
  return {
    platform: row.platform,
    state: row.state,
    platformRuleId: row.platform_rule_id,
    translatedValue: row.value,
    live: row.live,
    problem: row.problem,
    problemKind: row.problem_kind,
  };
}
