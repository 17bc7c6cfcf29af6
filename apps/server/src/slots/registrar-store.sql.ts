import type { Database, Sql } from '../engines/database.ts';
import { assertLease, type Lease } from '../engines/leases.ts';
import type { Problem, Slot, SlotState } from './slot.ts';
import { cameBack, moveAway, movedFrom, moveToRoom, recordCompared, takeBack } from './slot-moving.ts';
import type { FullSource, Registered, RegistrarStore } from './slot-store.ts';
import { recordCapacity } from './source-capacity.ts';
import { callsMade, recordCall } from './upstream-calls.ts';

interface SlotRow {
  id: string;
  value: string;
  state: SlotState;
  upstream_rule_id: string | null;
  foreign_rule: boolean;
}

const columns = 'id, value, state, upstream_rule_id, foreign_rule';

function toSlot(row: SlotRow): Slot {
  return {
    id: row.id,
    value: row.value,
    state: row.state,
    upstreamRuleId: row.upstream_rule_id,
    foreignRule: row.foreign_rule,
  };
}

export function createRegistrarStore(database: Database): RegistrarStore {
  /** Every change begins with the proof that the lease still is ours. */
  const fenced = <Result>(lease: Lease, work: (sql: Sql) => Promise<Result>) =>
    database.transaction(async (sql) => {
      await assertLease(sql, lease);
      return await work(sql);
    });
  return {
    async slotsOf(sourceId) {
      const rows = await database.many<SlotRow>(`select ${columns} from slots where source_id = $1`, [
        sourceId,
      ]);
      return rows.map(toSlot);
    },
    async wanted(sourceId, limit) {
      const rows = await database.many<SlotRow>(
        `select ${columns} from slots
         where source_id = $1 and state = 'wanted' and moved_from is distinct from source_id
         order by created_at limit $2`,
        [sourceId, limit],
      );
      return rows.map(toSlot);
    },
    cameBack: (sourceId) => cameBack(database, sourceId),
    recordCompared: (lease, slotIds) => fenced(lease, (sql) => recordCompared(sql, slotIds)),
    beginDeleting: (lease, sourceId, limit) => fenced(lease, (sql) => beginDeleting(sql, sourceId, limit)),
    recordRegistered: (lease, registered) => fenced(lease, (sql) => recordRegistered(sql, registered)),
    recordProblem: (lease, slotIds, problem) => fenced(lease, (sql) => recordProblem(sql, slotIds, problem)),
    recordGone: (lease, slotIds) => fenced(lease, (sql) => recordGone(sql, slotIds)),
    recordVanished: (lease, slotIds) => fenced(lease, (sql) => recordVanished(sql, slotIds)),
    recordSeen: (lease, sourceId, agoMs) => fenced(lease, (sql) => recordSeen(sql, sourceId, agoMs)),
    retryFailed: (lease, sourceId) => fenced(lease, (sql) => retryFailed(sql, sourceId)),
    recordCapacity: (lease, sourceId, learnt) =>
      fenced(lease, (sql) => recordCapacity(sql, sourceId, learnt)),
    recordFull: (lease, full) => fenced(lease, (sql) => recordFull(sql, full)),
    moveAway: (lease, sourceId, limit) => fenced(lease, (sql) => moveAway(sql, sourceId, limit)),
    takeBack: (lease, sourceId, slotIds) => fenced(lease, (sql) => takeBack(sql, sourceId, slotIds)),
    movedFrom: (sourceId) => movedFrom(database, sourceId),
    recordCall: (lease, sourceId, limit) => fenced(lease, (sql) => recordCall(sql, sourceId, limit)),
    callsMade: (sourceId) => callsMade(database, sourceId),
  };
}

/** Row locks first: whoever takes a slot locks its row before it adds itself as a holder. */
async function beginDeleting(sql: Sql, sourceId: string, limit: number): Promise<Slot[]> {
  const rows = await sql.many<SlotRow>(
    `update slots set state = 'deleting'
     where id in (
       select id from slots where source_id = $1 and state = 'releasing'
       order by created_at limit $2 for update
     ) returning ${columns}`,
    [sourceId, limit],
  );
  return rows.map(toSlot);
}

async function recordRegistered(sql: Sql, registered: readonly Registered[]): Promise<void> {
  if (registered.length === 0) return;
  await sql.run(
    `update slots set
       upstream_rule_id = new.upstream_rule_id,
       foreign_rule = new.foreign_rule,
       problem = null, problem_kind = null,
       registered_at = coalesce(slots.registered_at, now()), confirmed_at = now(), attempts = 0, retry_at = null,
       state = case when slots.state = 'wanted' then 'registered' else slots.state end
     from unnest($1::text[], $2::text[], $3::boolean[]) as new (id, upstream_rule_id, foreign_rule)
     where slots.id = new.id`,
    [
      registered.map((one) => one.slotId),
      registered.map((one) => one.upstreamRuleId),
      registered.map((one) => one.foreignRule),
    ],
  );
  await sql.run('update slot_gaps set to_at = now() where slot_id = any($1) and to_at is null', [
    registered.map((one) => one.slotId),
  ]);
}

/**
 * `unavailable` is no verdict: the slot stays wanted and says what it waits for. A slot that was registered once has
 * rules that rely on it: it is tried again after 1, 2, 4 … 60 minutes.
 */
async function recordProblem(sql: Sql, slotIds: readonly string[], problem: Problem): Promise<void> {
  await sql.run(
    `update slots set problem = $2, problem_kind = $3,
       state = case when $3 = 'unavailable' or state <> 'wanted' then state else 'failed' end,
       attempts = case when $3 = 'unavailable' or registered_at is null then attempts else attempts + 1 end,
       retry_at = case when $3 = 'unavailable' or registered_at is null then retry_at
         else now() + least(60, power(2, least(attempts, 6))) * interval '1 minute' end
     where id = any($1)`,
    [slotIds, problem.words, problem.kind],
  );
}

async function recordFull(sql: Sql, { sourceId, slotIds, learnt, words }: FullSource): Promise<number> {
  const { moved, left } = await moveToRoom(sql, sourceId, slotIds);
  await recordCapacity(sql, sourceId, learnt);
  await recordProblem(sql, left, { kind: 'full', words: `no source has room for it (${words})` });
  return moved;
}

async function recordGone(sql: Sql, slotIds: readonly string[]): Promise<void> {
  if (slotIds.length === 0) return;
  await sql.run('select 1 from slots where id = any($1) order by platform, id for update', [slotIds]);
  await sql.run(
    `delete from slots where id = any($1) and state in ('deleting', 'releasing')
       and not exists (select 1 from slot_holders where slot_id = slots.id)`,
    [slotIds],
  );
  await sql.run(
    `update slots set state = 'wanted', registered_at = null
     where id = any($1) and state in ('deleting', 'releasing')`,
    [slotIds],
  );
}

/**
 * The old id stays until there is a new one: late events still find their rules by it. The gap begins when the
 * upstream was last seen with the rule.
 */
async function recordVanished(sql: Sql, slotIds: readonly string[]): Promise<void> {
  if (slotIds.length === 0) return;
  await sql.run(
    `with vanished as (
       update slots set state = 'wanted' where id = any($1) and state = 'registered' returning *
     )
     insert into slot_gaps (slot_id, from_at)
     select vanished.id, greatest(vanished.registered_at, vanished.confirmed_at, sources.rules_seen_at)
     from vanished join sources on sources.id = vanished.source_id
     where vanished.registered_at is not null`,
    [slotIds],
  );
}

async function recordSeen(sql: Sql, sourceId: string, agoMs: number): Promise<void> {
  await sql.run(`update sources set rules_seen_at = now() - $2 * interval '1 ms' where id = $1`, [
    sourceId,
    agoMs,
  ]);
}

async function retryFailed(sql: Sql, sourceId: string): Promise<void> {
  await sql.run(
    `update slots set state = 'wanted', retry_at = null
     where source_id = $1 and state = 'failed' and retry_at <= now()
       and exists (select 1 from slot_holders where slot_id = slots.id)`,
    [sourceId],
  );
}
