import type { Platform } from '@earshot/contract';
import type { Database, Sql } from '../engines/database.ts';
import { newId } from '../runtime/ids.ts';
import { joinCalls } from '../runtime/join-calls.ts';
import { platforms } from '../upstream/platforms.ts';
import type { RuleOptions } from '../upstream/upstream-rules.ts';
import { accountUse, mayCall, msUntilCall, type ShareRefusal, shareRefusal } from './fair-share.sql.ts';
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
  /** None where it is not said. */
  readonly options?: RuleOptions;
}

export type Placement =
  /** `held`: as the rule's account sees it, when it is served with it from the first; else null. */
  | { readonly kind: 'taken'; readonly slotId: string; readonly held: HeldSlot | null }
  | { readonly kind: 'no_source'; readonly platform: Platform }
  | { readonly kind: 'sources_full'; readonly platform: Platform; readonly capacity: number }
  | (ShareRefusal & { readonly platform: Platform });

/** For which version a slot is held; `pending` until the change that needs it is applied. */
export interface Hold {
  readonly version: number;
  readonly pending: boolean;
}

/**
 * Takes the slot of a value, or makes it, and writes it down as the slot of the rule's version.
 *
 * A slot that only others hold is taken as a new one is made: under the same lock, with the same refusals, in as many
 * statements. Anything else would tell that others watch the value.
 */
export async function takeSlot(
  sql: Sql,
  rule: { readonly id: string; readonly accountId: string },
  value: RuleValue,
  hold: Hold = { version: 1, pending: false },
): Promise<Placement> {
  const { platform, translatedValue, options = {} } = value;
  const hash = valueHash(platform, translatedValue, options);
  const holding = [
    rule.id,
    rule.accountId,
    platform,
    hold.version,
    hold.pending,
    value.value,
    translatedValue,
    platforms[platform].newRuleId(),
    hash,
    JSON.stringify(options),
  ];
  const before = await lockOwn(sql, rule.accountId, platform, hash);
  if (before?.own) {
    const waitMs = before.needsCall ? await msUntilCallOn(sql, rule.accountId, platform, before.sourceId) : 0;
    if (waitMs > 0) return { kind: 'calls_share', platform, waitMs };
    const own = await takeExisting(sql, holding, 'own');
    if (own) return { kind: 'taken', slotId: own.id, held: heldAtOnce(value, own) };
  }
  // One placement at a time per platform: the capacity is read under this lock, which is held until the commit.
  const sources = await sql.prepared<{ capacity: number; shared: boolean }>(
    `select source_capacity as capacity,
       (select bool_or(account_share < 1) from sources where platform = $1 and enabled) as shared
     from lock_sources($1)`,
    [platform],
  );
  if (sources.length === 0) return { kind: 'no_source', platform };
  const use = sources[0]?.shared ? await accountUse(sql, rule.accountId, platform) : null;
  const refusal = use && shareRefusal(use);
  if (refusal) return { ...refusal, platform };
  const callable = use && use.sources.filter(mayCall).map(({ sourceId }) => sourceId);
  const take = () => takeExisting(sql, holding, callable);
  const make = () => makeSlot(sql, holding, callable);
  // The second only when another transaction has made or removed the slot meanwhile, or when there is no room.
  const slot = before ? ((await take()) ?? (await make())) : ((await make()) ?? (await take()));
  if (slot) return { kind: 'taken', slotId: slot.id, held: null };
  return { kind: 'sources_full', platform, capacity: sources.reduce((sum, one) => sum + one.capacity, 0) };
}

interface ExistingSlot {
  readonly id: string;
  readonly unchanged: boolean;
  readonly served: boolean;
  readonly live: boolean;
  readonly platform_rule_id: string;
}

function heldAtOnce({ platform, translatedValue }: RuleValue, slot: ExistingSlot): HeldSlot | null {
  if (!slot.served || !slot.unchanged) return null;
  const { live, platform_rule_id: platformRuleId } = slot;
  return {
    platform,
    state: 'registered',
    platformRuleId,
    translatedValue,
    live,
    problem: null,
    problemKind: null,
  };
}

interface KnownSlot {
  readonly sourceId: string;
  /** The account holds it, or has left it just now: it is no news to the account. Only then it is locked. */
  readonly own: boolean;
  /** It is registered again, or as if it were: whoever takes it causes a call. */
  readonly needsCall: boolean;
}

/** Null when the value has no slot. */
async function lockOwn(
  sql: Sql,
  accountId: string,
  platform: Platform,
  hash: Buffer,
): Promise<KnownSlot | null> {
  const [slot] = await sql.prepared<KnownSlot>(
    `select known.source_id as "sourceId", own.id is not null as own, own.is_left or own.state in ('deleting', 'failed')
       or own.state = 'releasing' and own.upstream_rule_id is null as "needsCall"
     from slots as known left join lateral (
       select slots.*, is_left from slots, lateral (select exists (
         select 1 from slot_leavings where account_id = $1 and slot_id = known.id) as is_left) as left_slot
       where slots.id = known.id and (is_left or exists (
         select 1 from slot_holders where account_id = $1 and platform = $2 and slot_id = known.id))
       for update of slots
     ) as own on true
     where known.platform = $2 and known.value_hash = $3`,
    [accountId, platform, hash],
  );
  return slot ?? null;
}

async function msUntilCallOn(
  sql: Sql,
  accountId: string,
  platform: Platform,
  source: string,
): Promise<number> {
  const { sources } = await accountUse(sql, accountId, platform);
  return msUntilCall(sources.filter(({ sourceId }) => sourceId === source));
}

/**
 * Null when there is no slot, or when a new one would find no place on these sources. An existing slot's row changes only when it
 * was given up, or has a problem: then it is tried again.
 */
async function takeExisting(
  sql: Sql,
  holding: readonly unknown[],
  on: 'own' | readonly string[] | null,
): Promise<ExistingSlot | null> {
  const own = on === 'own';
  const [slot] = await sql.prepared<ExistingSlot>(holdExisting, [...holding, own, own ? null : on]);
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

/** Null when there is one already, or no place on these sources. */
async function makeSlot(
  sql: Sql,
  holding: readonly unknown[],
  callable: readonly string[] | null,
): Promise<{ id: string } | null> {
  const [made] = await sql.prepared<{ id: string }>(holdNew, [...holding, newId('slot'), callable]);
  return made ?? null;
}

/**
 * Writes the holder and the version for `slot`, an earlier part of the statement. A rule that goes back to a value which it
 * is about to release still holds that slot; one that is resumed already has its version.
 */
const holdSlot = `, holder as (
    insert into slot_holders (slot_id, rule_id, account_id, platform, rule_version, pending, served_since)
    select id, $1, $2, $3, $4, $5, case when served then now() end from slot on conflict (slot_id, rule_id) do nothing
  ), back as (
    delete from slot_leavings using slot where slot_id = slot.id and account_id = $2
  ), version as (
    insert into rule_versions (rule_id, version, platform, value, translated_value, platform_rule_id, slot_id, options)
    select $1, $4, $3, $6, $7, $8, id, $10::json from slot
    on conflict (rule_id, version, platform) do update set slot_id = excluded.slot_id
    returning platform_rule_id
  ) select slot.*, version.platform_rule_id from slot, version`;

const place = 'platform = $3 and enabled and slots < capacity and ($12::text[] is null or id = any($12))';

/** Whoever has the slot already, which is locked then, is served with it from the first. */
const holdExisting = `with found as (
    select * from slots where platform = $3 and value_hash = $9
      and ($11::boolean or exists (select 1 from sources where ${place})) for update
  ), slot as (
    select id, state not in ${statesWith('taken', 'changes')} and problem is null as unchanged,
      $11 and state = 'registered' and exists (
        select 1 from slot_holders
        where account_id = $2 and platform = $3 and slot_id = found.id and served_since is not null
      ) as served,
      (select live_until > now() from sources where sources.id = found.source_id) as live
    from found
  ) ${holdSlot}`;

/** On the source with the fewest slots, if one of those named has room; sources without a registrar at the moment come last. */
const holdNew = `with room as (
    select id, slots,
      exists (select 1 from leases where name = 'registrar:' || sources.id and expires_at > now()) as served
    from sources where ${place}
  ), slot as (
    insert into slots (id, platform, source_id, value, value_hash, options, state)
    select $11, $3, id, $7, $9, $10::json, 'wanted' from room order by served desc, slots, id limit 1
    on conflict (platform, value_hash) do nothing
    returning id, false as served
  ) ${holdSlot}`;

/** Leaves all slots of the rule, or those that are named; returns their ids. */
export async function leaveSlots(
  sql: Sql,
  ruleId: string,
  only: readonly string[] | null = null,
): Promise<string[]> {
  const slots = await sql.many<{ id: string; account_id: string }>(
    `select slots.id, slot_holders.account_id from slots join slot_holders on slot_holders.slot_id = slots.id
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
  await sql.run(
    `insert into slot_leavings (slot_id, account_id) select id, $2 from slots
     where id = any($1) and state <> 'failed'
       and not exists (select 1 from slot_holders where slot_id = slots.id and account_id = $2)
     on conflict do nothing`,
    [ids, slots[0]?.account_id],
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
       -- The inner selects hide how many there are: the statement would else be planned for each number.
       from unnest((select $1::text[]), (select $2::integer[])) with ordinality as asked (rule_id, version, nth)
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
