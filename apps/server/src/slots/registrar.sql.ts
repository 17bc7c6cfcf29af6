import type { Database, Sql } from '../engines/database.ts';
import { fenced, type Lease } from '../engines/leases.ts';
import type { CallLimit } from '../upstream/call-budget.ts';
import { notifyRefused, resolveRefused } from './refused-notices.sql.ts';
import {
  type Problem,
  type Slot,
  type SlotRow,
  slotColumns,
  stateAfter,
  statesWith,
  toSlot,
} from './slot.ts';
import {
  endFormerServices,
  hasReturned,
  moveAway,
  movedFrom,
  moveToRoom,
  recordCompared,
  releasedOnDraining,
  takeBack,
} from './slot-moving.sql.ts';
import { callsMade, recordCall } from './upstream-calls.ts';

export interface RegistrarStoreOptions {
  /** How long an upstream takes to apply a new rule. Until then a slot's former source keeps its rule. */
  readonly ruleDelayMs: number;
}

export type RegistrarStore = ReturnType<typeof createRegistrarStore>;

export interface RegisteredSlot {
  readonly slotId: string;
  readonly upstreamRuleId: string;
  readonly foreignRule: boolean;
}

export interface FullSource {
  readonly sourceId: string;
  readonly slotIds: readonly string[];
  /** The number of rules that the source accepts, as the refusal showed. */
  readonly learnt: number;
  /** The upstream's message. */
  readonly words: string;
}

/** A wanted slot, and the account that has waited for it longest. */
export interface WantedSlot extends Slot {
  readonly accountId: string | null;
}

export interface ReleasedSlots {
  readonly sourceId: string;
  /** If true, only slots that a budget stopped. */
  readonly onlyStopped?: boolean;
  readonly limit: number;
}

/** The statements of a registrar. Every change names the lease and throws LeaseLost if its epoch has passed. */
export function createRegistrarStore(database: Database, { ruleDelayMs }: RegistrarStoreOptions) {
  const change = (lease: Lease, slotIds: readonly string[], work: SlotWork) =>
    changeSlots(database, lease, slotIds, work);
  return {
    slotsOf: (sourceId: string) => slotsOf(database, sourceId),
    fingerprint: (sourceId: string) => readFingerprint(database, sourceId),
    mayHaveWork: (sourceId: string) => mayHaveWork(database, sourceId),
    wanted: (sourceId: string, limit: number) => wanted(database, sourceId, limit),
    hasReturned: (sourceId: string) => hasReturned(database, sourceId),
    movedFrom: (sourceId: string) => movedFrom(database, sourceId, ruleDelayMs),
    callsMade: (sourceId: string) => callsMade(database, sourceId),
    recordCompared: (lease: Lease, slotIds: readonly string[]) => change(lease, slotIds, recordCompared),
    /** Checks first: usually there is nothing to remove, and a transaction under the lease takes four statements. */
    async beginDeleting(lease: Lease, released: ReleasedSlots): Promise<Slot[]> {
      const found = await database.one(`select 1 ${fromReleased(released)} limit 1`, [released.sourceId]);
      return found ? await fenced(database, lease, (sql) => beginDeleting(sql, released)) : [];
    },
    async recordRegistered(lease: Lease, registered: readonly RegisteredSlot[]): Promise<void> {
      if (registered.length === 0) return;
      await fenced(database, lease, (sql) => recordRegistered(sql, registered, ruleDelayMs));
    },
    recordProblem: (lease: Lease, slotIds: readonly string[], problem: Problem) =>
      fenced(database, lease, (sql) => recordProblem(sql, slotIds, problem)),
    recordGone: (lease: Lease, slotIds: readonly string[]) => change(lease, slotIds, recordGone),
    recordVanished: (lease: Lease, slotIds: readonly string[]) => change(lease, slotIds, recordVanished),
    /** The upstream's list was read; the read began `agoMs` ago. */
    recordSeen: (lease: Lease, sourceId: string, agoMs: number) =>
      fenced(database, lease, (sql) =>
        sql.run(`update sources set rules_seen_at = now() - $2 * interval '1 ms' where id = $1`, [
          sourceId,
          agoMs,
        ]),
      ),
    retryFailed: (lease: Lease, sourceId: string) =>
      fenced(database, lease, (sql) => retryFailed(sql, sourceId)),
    recordCapacity: (lease: Lease, sourceId: string, learnt: number | null) =>
      fenced(database, lease, (sql) => recordCapacity(sql, sourceId, learnt)),
    recordFull: (lease: Lease, full: FullSource) => fenced(database, lease, (sql) => recordFull(sql, full)),
    moveAway: (lease: Lease, sourceId: string, limit: number) =>
      fenced(database, lease, (sql) => moveAway(sql, { sourceId, limit, ruleDelayMs })),
    /**
     * Like `moveAway`, for a source whose upstream cannot be called: the slots that wait for their removal are given up, too. Their upstream
     * rules stay there. If the token works again, a comparison removes them by their tag.
     */
    async drain(lease: Lease, sourceId: string, limit: number): Promise<number> {
      // Checks first, like `beginDeleting`.
      const found = await database.one(
        `select 1 from slots join sources on sources.id = source_id where source_id = $1 and not enabled limit 1`,
        [sourceId],
      );
      if (!found) return 0;
      return await fenced(database, lease, async (sql) => {
        await recordGone(sql, await releasedOnDraining(sql, sourceId));
        return await moveAway(sql, { sourceId, limit, ruleDelayMs });
      });
    },
    takeBack: (lease: Lease, sourceId: string, slotIds: readonly string[]) =>
      change(lease, slotIds, (sql) => takeBack(sql, sourceId, slotIds)),
    /** Records a call, so that the next holder of the lease does not spend it again. */
    recordCall: (lease: Lease, sourceId: string, limit: CallLimit, accounts: readonly string[] = []) =>
      recordCall(database, lease, { sourceId, limit, accounts }),
  };
}

type SlotWork = (sql: Sql, slotIds: readonly string[]) => Promise<void>;

/** Under the lease, unless there is nothing to change. */
async function changeSlots(
  database: Database,
  lease: Lease,
  slotIds: readonly string[],
  work: SlotWork,
): Promise<void> {
  if (slotIds.length > 0) await fenced(database, lease, (sql) => work(sql, slotIds));
}

/** SQL: a hash of what `reconcile` compares in the slots of a source. */
const fingerprint = `select count(*) || ':' || sum(hashtextextended(concat_ws(' ', id, state, upstream_rule_id), 0))
  from slots where source_id = $1`;

async function slotsOf(sql: Sql, sourceId: string): Promise<{ slots: Slot[]; fingerprint: string | null }> {
  const rows = await sql.many<SlotRow & { fingerprint: string }>(
    `select ${slotColumns}, (${fingerprint}) as fingerprint from slots where source_id = $1`,
    [sourceId],
  );
  return { slots: rows.map(toSlot), fingerprint: rows[0]?.fingerprint ?? null };
}

/** The same value if no slot has changed in a way that a comparison would see; null without slots. */
async function readFingerprint(sql: Sql, sourceId: string): Promise<string | null> {
  const [row] = await sql.prepared<{ fingerprint: string | null }>(`select (${fingerprint}) as fingerprint`, [
    sourceId,
  ]);
  return row?.fingerprint ?? null;
}

/**
 * Whether a source may have something to do: slots that are wanted or to be removed. One statement instead of one for each, because
 * usually there is nothing.
 */
async function mayHaveWork(sql: Sql, sourceId: string): Promise<boolean> {
  const [row] = await sql.prepared<{ found: boolean }>(
    `select exists (select 1 from slots where source_id = $1
       and (state in ${statesWith('registered', 'changes')} or state in ${statesWith('picked', 'changes')})) as found`,
    [sourceId],
  );
  return row?.found ?? false;
}

/** The oldest first, without slots that were moved away and returned. */
async function wanted(sql: Sql, sourceId: string, limit: number): Promise<WantedSlot[]> {
  const rows = await sql.many<SlotRow & { account_id: string | null }>(
    `select ${slotColumns}, (
       select account_id from slot_holders where slot_id = slots.id order by since, rule_id limit 1) as account_id
     from slots where source_id = $1 and state = 'wanted' and moved_from is distinct from source_id
     order by created_at limit $2`,
    [sourceId, limit],
  );
  return rows.map((row) => ({ ...toSlot(row), accountId: row.account_id }));
}

function fromReleased({ onlyStopped }: ReleasedSlots): string {
  const isPicked = `source_id = $1 and state in ${statesWith('picked', 'changes')}`;
  return `from slots where ${isPicked} ${onlyStopped ? 'and stopped' : ''}`;
}

/**
 * Picks slots to remove upstream. Row locks first: a request that takes a slot locks its row before it adds itself as a holder.
 */
async function beginDeleting(sql: Sql, released: ReleasedSlots): Promise<Slot[]> {
  const rows = await sql.many<SlotRow>(
    `update slots set state = ${stateAfter('picked')}
     where id in (select id ${fromReleased(released)} order by created_at limit $2 for update) returning ${slotColumns}`,
    [released.sourceId, released.limit],
  );
  return rows.map(toSlot);
}

async function recordRegistered(
  sql: Sql,
  registered: readonly RegisteredSlot[],
  ruleDelayMs: number,
): Promise<void> {
  const slotIds = registered.map(({ slotId }) => slotId);
  await endFormerServices(sql, slotIds, ruleDelayMs);
  await sql.run(
    `update slots set
       upstream_rule_id = new.upstream_rule_id,
       foreign_rule = new.foreign_rule,
       problem = null, problem_kind = null,
       registered_at = coalesce(slots.registered_at, now()), confirmed_at = now(), attempts = 0, retry_at = null,
       state = ${stateAfter('registered')}
     from unnest($1::text[], $2::text[], $3::boolean[]) as new (id, upstream_rule_id, foreign_rule)
     where slots.id = new.id`,
    [slotIds, registered.map((one) => one.upstreamRuleId), registered.map((one) => one.foreignRule)],
  );
  await sql.run(
    `update slot_holders set served_since = now(), applied_from = now() + $2 * interval '1 ms'
     where slot_id = any($1) and served_since is null
       and exists (select 1 from slots where slots.id = slot_id and state = 'registered')`,
    [slotIds, ruleDelayMs],
  );
  await sql.run('update slot_gaps set to_at = now() where slot_id = any($1) and to_at is null', [slotIds]);
  await resolveRefused(sql, slotIds);
}

/**
 * After `unavailable` nothing is known: the slot keeps its state and stores the reason. A slot that was registered once has rules that
 * rely on it: it is retried after 1, 2, 4 … 60 minutes.
 */
async function recordProblem(sql: Sql, slotIds: readonly string[], problem: Problem): Promise<void> {
  const isRefused = problem.kind === 'refused' || problem.kind === 'full';
  await sql.run(
    `update slots set problem = $2, problem_kind = $3,
       state = case when $4 then ${stateAfter('refused')} else ${stateAfter('unavailable')} end,
       attempts = case when $4 and registered_at is not null then attempts + 1 else attempts end,
       retry_at = case when not $4 or registered_at is null then retry_at
         else now() + least(60, power(2, least(attempts, 6))) * interval '1 minute' end
     where id = any($1)`,
    [slotIds, problem.words, problem.kind, isRefused],
  );
  if (isRefused) await notifyRefused(sql, slotIds);
}

/** Moves slots for which the source has no room to other sources; the others fail. Returns how many it moved. */
async function recordFull(sql: Sql, { sourceId, slotIds, learnt, words }: FullSource): Promise<number> {
  const { moved, left } = await moveToRoom(sql, sourceId, slotIds);
  await recordCapacity(sql, sourceId, learnt);
  await recordProblem(sql, left, { kind: 'full', words: `no source has room for it (${words})` });
  return moved;
}

/** Their upstream rules are removed: the row is deleted too, or wanted again if a rule has taken the slot in the meantime. */
async function recordGone(sql: Sql, slotIds: readonly string[]): Promise<void> {
  await sql.run('select 1 from slots where id = any($1) order by platform, id for update', [slotIds]);
  await sql.run(
    `delete from slots where id = any($1) and state in ${statesWith('gone', 'deletes')}
       and not exists (select 1 from slot_holders where slot_id = slots.id)`,
    [slotIds],
  );
  await sql.run(
    `update slots set state = ${stateAfter('gone_held')}, registered_at = null
     where id = any($1) and state in ${statesWith('gone_held', 'changes')}`,
    [slotIds],
  );
}

/**
 * Registered, but no longer upstream: wanted again. The old rule id stays until there is a new one, because late events still find their
 * rules by it. The gap begins when the upstream was last seen with the rule.
 */
async function recordVanished(sql: Sql, slotIds: readonly string[]): Promise<void> {
  await sql.run(
    `with vanished as (
       update slots set state = ${stateAfter('vanished')}
       where id = any($1) and state in ${statesWith('vanished', 'changes')} returning *
     )
     insert into slot_gaps (slot_id, from_at)
     select vanished.id, greatest(vanished.registered_at, vanished.confirmed_at, sources.rules_seen_at)
     from vanished join sources on sources.id = vanished.source_id
     where vanished.registered_at is not null`,
    [slotIds],
  );
}

/** Failed slots that were registered once and are still held become wanted again when their retry is due. */
async function retryFailed(sql: Sql, sourceId: string): Promise<void> {
  await sql.run(
    `update slots set state = ${stateAfter('retried')}, retry_at = null
     where source_id = $1 and state in ${statesWith('retried', 'changes')} and retry_at <= now()
       and exists (select 1 from slot_holders where slot_id = slots.id)`,
    [sourceId],
  );
}

/** A limit that only a refusal has shown may have been raised since. After this time it is tried again. */
const forgottenAfterMinutes = 60;

/** `learnt` is null if the upstream reports nothing new. The configured capacity stays the upper bound. */
async function recordCapacity(sql: Sql, sourceId: string, learnt: number | null): Promise<void> {
  await sql.run(
    learnt === null
      ? `update sources set learnt_capacity = null, learnt_at = null, capacity = configured_capacity
         where id = $1 and learnt_at < now() - $2 * interval '1 minute'`
      : `update sources set learnt_capacity = $2, learnt_at = now(), capacity = least(configured_capacity, $2)
         where id = $1`,
    [sourceId, learnt ?? forgottenAfterMinutes],
  );
}
