import type { Database } from '../engines/database.ts';
import type { LoggedEvent } from '../event-log/event-consumer.ts';
import type { LogCopies, LogState } from '../event-log/log-copies.ts';
import type { Telemetry } from '../observability/telemetry.ts';

/** Sequences per check, so that one check stays short. */
const checkedAtOnceMax = 20_000;
/** The node with the last good copy may be down for a while; until then no event is given up. */
const giveUpAfterMs = 600_000;

export interface CheckLogOptions {
  readonly log: LogCopies;
  readonly settled: Omit<SettledStore, 'lastChecked'>;
  readonly store: (batch: readonly LoggedEvent[]) => Promise<unknown>;
  readonly telemetry: Telemetry;
  readonly nowMs: () => number;
}

/**
 * A damaged copy of the log leaves events out without an error: its consumer reports that nothing is pending. So the
 * sequence of every settled event is stored with its matches, and this compares: a sequence that the log has passed and
 * that is not settled is a hole. It is fetched from the other copies and stored like any other event.
 */
export function createCheckLog({ log, settled, store, telemetry, nowMs }: CheckLogOptions) {
  let idleBefore = 0;
  let firstSeenAt = new Map<number, number>();
  return async (): Promise<void> => {
    const state = await log.state();
    const from = await settled.checkedThrough(state.createdAt, state.settledThrough);
    // The deliverer may lag behind the log, so its end counts only when it was idle at the previous check as well.
    const idle = Math.min(state.idleAt ?? 0, idleBefore);
    idleBefore = state.idleAt ?? 0;
    const through = Math.min(Math.max(state.settledThrough, idle), from + checkedAtOnceMax);
    if (through <= from) return;
    const holes = await settled.unsettled(from, through);
    const fresh = holes.filter((sequence) => !firstSeenAt.has(sequence));
    if (fresh.length > 0) telemetry.logHoleFound({ ...spanOf(fresh), consumerLeader: state.deliverer });
    firstSeenAt = new Map(holes.map((sequence) => [sequence, firstSeenAt.get(sequence) ?? nowMs()]));
    const left = holes.length > 0 ? await recover(holes, state) : [];
    const lost = left.filter((sequence) => isGivenUp(sequence, state));
    if (lost.length > 0) telemetry.logHoleLost(spanOf(lost));
    const open = left.filter((sequence) => !isGivenUp(sequence, state));
    const reached = open.length > 0 ? Math.min(...open) - 1 : through;
    await settled.advance(reached);
    telemetry.logChecked(reached);
  };

  function isGivenUp(sequence: number, { copies }: LogState): boolean {
    return copies === 1 || nowMs() - (firstSeenAt.get(sequence) ?? nowMs()) > giveUpAfterMs;
  }

  /** Returns what is still not settled. */
  async function recover(holes: readonly number[], { copies }: LogState): Promise<number[]> {
    if (copies > 1) await log.changeDeliverer();
    const { found, missing } = await log.fetch(holes);
    const isSettled = new Set<number>();
    await store(found.map((logged) => ({ ...logged, ack: () => void isSettled.add(logged.sequence) })));
    if (isSettled.size > 0) telemetry.logHoleRecovered({ count: isSettled.size });
    return [...missing, ...found.map(({ sequence }) => sequence).filter((one) => !isSettled.has(one))];
  }
}

function spanOf(sequences: readonly number[]): { from: number; to: number; count: number } {
  const sorted = sequences.toSorted((a, b) => a - b);
  return { from: sorted.at(0) ?? 0, to: sorted.at(-1) ?? 0, count: sorted.length };
}

interface LogCheckRow {
  log_created_at: string;
  checked_through: number;
}

/** Which sequences of the log are settled, and up to which one the log was checked. */
export function createSettledStore(database: Database) {
  return {
    /** Where the last check ended; starts at `from` for a log that was never checked. */
    async checkedThrough(logCreatedAt: string, from: number): Promise<number> {
      return await database.transaction(async (sql) => {
        const row = await sql.one<LogCheckRow>(
          'select log_created_at, checked_through from log_check for update',
        );
        if (row?.log_created_at === logCreatedAt) return row.checked_through;
        await sql.run('delete from log_check');
        await sql.run('delete from settled_batches where last_sequence <= $1 or $2', [from, row !== null]);
        await sql.run('insert into log_check (log_created_at, checked_through) values ($1, $2)', [
          logCreatedAt,
          from,
        ]);
        return from;
      });
    },
    /** Like `checkedThrough`, whichever log it was; 0 before the first check. */
    async lastChecked(): Promise<number> {
      const row = await database.one<LogCheckRow>('select log_created_at, checked_through from log_check');
      return row?.checked_through ?? 0;
    },
    /** Sequences in (after, through] that are not settled. */
    async unsettled(after: number, through: number): Promise<number[]> {
      const rows = await database.many<{ sequence: number }>(
        `select sequence from generate_series($1::bigint + 1, $2::bigint) as sequence
         where sequence not in (select unnest(sequences) from settled_batches where last_sequence > $1)
         order by sequence`,
        [after, through],
      );
      return rows.map((row) => row.sequence);
    },
    async advance(through: number): Promise<void> {
      await database.transaction(async (sql) => {
        await sql.run('update log_check set checked_through = greatest(checked_through, $1)', [through]);
        await sql.run('delete from settled_batches where last_sequence <= $1', [through]);
      });
    },
  };
}

export type SettledStore = ReturnType<typeof createSettledStore>;
