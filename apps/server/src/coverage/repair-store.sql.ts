import type { Platform } from '@earshot/contract';
import type { Database, Sql } from '../engines/database.ts';
import { fenced, type Lease } from '../engines/leases.ts';
import { raiseNotices, resolveNotices } from '../notices/notice-log.sql.ts';
import type { RepairVia } from './timeline.ts';

const gapsMax = 100;
const ruleGone = 'rule_gone';
/** Why a search waits for the next day. */
export const budgetExhausted = 'budget_exhausted';
const today = `(now() at time zone 'UTC')::date`;

/** A gap that has ended, identified by the interval that ended it. */
export interface Gap {
  readonly id: number;
  readonly from: Date;
  readonly to: Date;
  readonly planned: boolean;
}

export interface OpenGap extends Gap {
  /** Why the source did not receive. */
  readonly reason: string;
}

export interface AffectedSlot {
  readonly slotId: string;
  readonly value: string;
  /** When the source got the slot. */
  readonly since: Date;
}

export interface PlannedRepair {
  readonly slotId: string;
  readonly state: 'waiting' | 'impossible';
  readonly because: string | null;
  readonly fidelity: readonly string[];
}

export interface WaitingRepair extends AffectedSlot {
  readonly nextToken: string | null;
  readonly matches: number;
  readonly because: string | null;
}

export interface RepairProgress {
  readonly nextToken: string | null;
  /** Matches found so far. */
  readonly matches: number;
  readonly state: 'waiting' | 'done' | 'impossible';
  readonly because: string | null;
}

export interface WholeOutcome {
  readonly repair: 'repaired' | 'none';
  readonly via: RepairVia;
  readonly because: string | null;
}

/** The ledger rows that repairs use. Every change requires the lease, or throws LeaseLost. */
export function createRepairStore(database: Database) {
  return {
    /** Unsettled gaps that ended at least this long ago, oldest first. */
    openGaps: (sourceId: string, endedBeforeMs: number) => openGaps(database, sourceId, endedBeforeMs),
    /** Slots that the source had during the gap and that a rule still holds. */
    affectedSlots: (sourceId: string, gap: Gap) => affectedSlots(database, sourceId, gap),
    plan: (lease: Lease, gap: Gap, repairs: readonly PlannedRepair[]) =>
      fenced(database, lease, (sql) => plan(sql, gap, repairs)),
    nextWaiting: (gap: Gap) => nextWaiting(database, gap),
    recordProgress: (lease: Lease, gap: Gap, slotId: string, progress: RepairProgress) =>
      fenced(database, lease, (sql) => recordProgress(sql, gap, slotId, progress)),
    /** Records what the waiting repairs wait for. */
    recordWaiting: (lease: Lease, gap: Gap, because: string) =>
      fenced(database, lease, async (sql) => {
        await sql.run(`update gap_repairs set because = $2 where coverage_id = $1 and state = 'waiting'`, [
          gap.id,
          because,
        ]);
      }),
    /** Ends the repair: the gap is repaired for all slots, for some, or for none. */
    settle: (lease: Lease, gap: Gap) => fenced(database, lease, (sql) => settle(sql, gap)),
    /** Ends the repair with one result for all slots of the source. */
    settleWhole: (lease: Lease, gap: Gap, { repair, via, because }: WholeOutcome) =>
      fenced(database, lease, async (sql) => {
        await sql.run('update coverage set repair = $2, repair_via = $3, repair_because = $4 where id = $1', [
          gap.id,
          repair,
          via,
          because,
        ]);
        if (repair === 'repaired') await notifyRepaired(sql, gap, null);
      }),
    /** Posts billed on this UTC day. */
    async spentToday(): Promise<number> {
      const row = await database.one<{ posts: number }>(
        `select posts from repair_spending where day = ${today}`,
      );
      return row?.posts ?? 0;
    },
    async recordSpent(posts: number): Promise<void> {
      await database.run(
        `insert into repair_spending (day, posts) values (${today}, $1)
         on conflict (day) do update set posts = repair_spending.posts + excluded.posts`,
        [posts],
      );
    },
  };
}

export type RepairStore = ReturnType<typeof createRepairStore>;

async function openGaps(sql: Sql, sourceId: string, endedBeforeMs: number): Promise<OpenGap[]> {
  const rows = await sql.many<{
    id: number;
    gap_from: Date;
    from_at: Date;
    repair: string | null;
    gap_because: string | null;
  }>(
    `select id, gap_from, from_at, repair, gap_because from coverage
     where source_id = $1 and gap_from is not null and (repair is null or repair = 'under_way')
       and from_at < now() - $2 * interval '1 ms'
     order by from_at limit $3`,
    [sourceId, endedBeforeMs, gapsMax],
  );
  return rows.map((row) => ({
    id: row.id,
    from: row.gap_from,
    to: row.from_at,
    planned: row.repair === 'under_way',
    reason: row.gap_because ?? '',
  }));
}

async function affectedSlots(sql: Sql, sourceId: string, gap: Gap): Promise<AffectedSlot[]> {
  const rows = await sql.many<{ id: string; value: string; since: Date }>(
    `select slots.id, slots.value, min(services.from_at) as since
     from slot_services services join slots on slots.id = services.slot_id
     where services.source_id = $1 and services.from_at < $3 and (services.to_at is null or services.to_at > $2)
       and exists (select 1 from slot_holders where slot_id = slots.id and not pending)
     group by slots.id, slots.value order by slots.id`,
    [sourceId, gap.from, gap.to],
  );
  return rows.map((row) => ({ slotId: row.id, value: row.value, since: row.since }));
}

async function plan(sql: Sql, gap: Gap, repairs: readonly PlannedRepair[]): Promise<void> {
  for (const { slotId, state, because, fidelity } of repairs) {
    await sql.run(
      `insert into gap_repairs (coverage_id, slot_id, via, state, because, fidelity)
       values ($1, $2, 'search', $3, $4, $5) on conflict do nothing`,
      [gap.id, slotId, state, because, fidelity],
    );
  }
  await sql.run(`update coverage set repair = 'under_way', repair_via = 'search' where id = $1`, [gap.id]);
}

/** Deleted slots are not searched for. */
async function nextWaiting(sql: Sql, gap: Gap): Promise<WaitingRepair | null> {
  const row = await sql.one<{
    slot_id: string;
    value: string;
    since: Date;
    next_token: string | null;
    matches: number;
    because: string | null;
  }>(
    `select repairs.slot_id, repairs.next_token, repairs.matches, repairs.because, slots.value,
       (select min(from_at) from slot_services where slot_id = slots.id) as since
     from gap_repairs repairs join slots on slots.id = repairs.slot_id
     where repairs.coverage_id = $1 and repairs.state = 'waiting' order by repairs.slot_id limit 1`,
    [gap.id],
  );
  return (
    row && {
      slotId: row.slot_id,
      value: row.value,
      since: row.since,
      nextToken: row.next_token,
      matches: row.matches,
      because: row.because,
    }
  );
}

async function recordProgress(
  sql: Sql,
  gap: Gap,
  slotId: string,
  { nextToken, matches, state, because }: RepairProgress,
): Promise<void> {
  await sql.run(
    `update gap_repairs set next_token = $3, matches = $4, state = $5, because = $6
     where coverage_id = $1 and slot_id = $2`,
    [gap.id, slotId, nextToken, matches, state, because],
  );
}

async function settle(sql: Sql, gap: Gap): Promise<void> {
  await sql.run(
    `update gap_repairs set state = 'impossible', because = $2 where coverage_id = $1 and state = 'waiting'`,
    [gap.id, ruleGone],
  );
  await sql.run(
    `update coverage set repair = (
       select case when count(*) filter (where state <> 'done' and because is distinct from $2) = 0 then 'repaired'
         when count(*) filter (where state = 'done') = 0 then 'none' else 'partly' end
       from gap_repairs where coverage_id = $1
     ), repair_because = (
       select min(because) from gap_repairs where coverage_id = $1 and state = 'impossible' and because <> $2
     ) where id = $1`,
    [gap.id, ruleGone],
  );
  await notifyRepaired(sql, gap, await accountsFullyRepaired(sql, gap));
}

/** Accounts that were notified of the gap and whose rules are all repaired. */
async function accountsFullyRepaired(sql: Sql, gap: Gap): Promise<string[]> {
  const rows = await sql.many<{ account_id: string }>(
    `select account_id from notices
     where type = 'coverage.gap' and key = $1::text and resolved_at is null and not exists (
       select 1 from gap_repairs join slot_holders holders on holders.slot_id = gap_repairs.slot_id
       where gap_repairs.coverage_id = $1::bigint and gap_repairs.state <> 'done'
         and holders.account_id = notices.account_id)`,
    [gap.id],
  );
  return rows.map(({ account_id }) => account_id);
}

/** Resolves the gap notices of all accounts, or of `accountIds`, and notifies them of the repair. */
async function notifyRepaired(sql: Sql, gap: Gap, accountIds: readonly string[] | null): Promise<void> {
  const row = await sql.one<{ platform: Platform; via: RepairVia | null }>(
    `select platform, repair_via as via from coverage join sources on sources.id = source_id where coverage.id = $1`,
    [gap.id],
  );
  if (!row) return;
  const subject = { kind: 'platform', id: row.platform, name: row.platform } as const;
  const key = String(gap.id);
  const notified = await resolveNotices(sql, {
    types: ['coverage.gap'],
    subject,
    key,
    ...(accountIds && { accountIds }),
  });
  const data = { ...row, from: gap.from.toISOString(), to: gap.to.toISOString() };
  await raiseNotices(sql, notified, { type: 'coverage.repaired', subject, key, data });
}
