import type { Database } from '../engines/database.ts';
import type { LoggedEvent } from '../event-log/event-consumer.ts';
import type { LogCopies, LogState } from '../event-log/log-copies.ts';
import type { Telemetry } from '../observability/telemetry.ts';

/** Limits the sequences per check, so that a check stays short. */
const checkedAtOnceMax = 20_000;
/** Limits the messages in memory: about 20 MB at the largest size. */
const fetchedAtOnceMax = 100;
/** The node with the last good copy may be down for a while. Until then, no event is given up. */
const giveUpAfterMs = 600_000;

export interface CheckLogOptions {
  readonly log: LogCopies;
  readonly settled: Omit<SettledStore, 'lastChecked'>;
  readonly store: (batch: readonly LoggedEvent[]) => Promise<unknown>;
  readonly telemetry: Telemetry;
  readonly nowMs: () => number;
}

/**
 * A damaged copy of the log skips events without an error, and its consumer reports that nothing is pending. So the
 * sequence of every settled event is stored with its matches. A sequence that the log has passed and that is not
 * settled is a gap: its message is fetched from other copies and stored. This also finds events that a restored
 * database has forgotten.
 */
export function createCheckLog({ log, settled, store, telemetry, nowMs }: CheckLogOptions) {
  let idleBefore = 0;
  let firstSeenAt = new Map<number, number>();
  /** Sequences that no copy had at the previous check. */
  let missingBefore: ReadonlySet<number> = new Set();
  return async (): Promise<void> => {
    const state = await log.state();
    const { from, forgottenThrough } = await settled.begin(state);
    // The delivering node may lag behind the log, so its end counts only if it was idle at the previous check too.
    const idle = Math.min(state.idleAt ?? 0, idleBefore);
    idleBefore = state.idleAt ?? 0;
    const through = Math.min(Math.max(state.settledThrough, idle), from + checkedAtOnceMax);
    if (through <= from) return;
    const gaps = await settled.unsettled(from, through);
    const isForgotten = (sequence: number) => sequence <= forgottenThrough;
    const fresh = gaps.filter((sequence) => !firstSeenAt.has(sequence));
    const forgotten = fresh.filter(isForgotten);
    if (forgotten.length > 0) telemetry.eventsForgotten(spanOf(forgotten));
    const leftOut = fresh.filter((sequence) => !isForgotten(sequence));
    if (leftOut.length > 0) telemetry.logGapFound({ ...spanOf(leftOut), consumerLeader: state.deliverer });
    firstSeenAt = new Map(gaps.map((sequence) => [sequence, firstSeenAt.get(sequence) ?? nowMs()]));
    if (state.copies > 1 && !gaps.every(isForgotten)) await log.changeDeliverer();
    const { missing, unstored } = await recover(gaps);
    const left = [...missing, ...unstored];
    const missingTwice = new Set(missing.filter((sequence) => missingBefore.has(sequence)));
    // A single server has no other copy that may return, but it may be busy or have just started.
    const isLost = (sequence: number) =>
      isOverdue(sequence) || (state.copies === 1 && missingTwice.has(sequence));
    const lost = left.filter(isLost);
    if (lost.length > 0) telemetry.logGapLost(spanOf(lost));
    const open = left.filter((sequence) => !isLost(sequence));
    missingBefore = new Set(missing);
    const reached = open.length > 0 ? Math.min(...open) - 1 : through;
    await settled.advance(reached);
    telemetry.logChecked(reached);
  };

  function isOverdue(sequence: number): boolean {
    return nowMs() - (firstSeenAt.get(sequence) ?? nowMs()) > giveUpAfterMs;
  }

  /** Returns the sequences that are still unsettled. */
  async function recover(gaps: readonly number[]): Promise<{ missing: number[]; unstored: number[] }> {
    const left = { missing: [] as number[], unstored: [] as number[] };
    for (let at = 0; at < gaps.length; at += fetchedAtOnceMax) {
      const { found, missing } = await log.fetch(gaps.slice(at, at + fetchedAtOnceMax));
      await store(found);
      const open = new Set(found.filter(({ message }) => message.open > 0).map(({ sequence }) => sequence));
      const recovered = new Set(found.map(({ sequence }) => sequence)).size - open.size;
      if (recovered > 0) telemetry.logGapRecovered({ count: recovered });
      left.missing.push(...missing);
      left.unstored.push(...open);
    }
    return left;
  }
}

function spanOf(sequences: readonly number[]): { from: number; to: number; count: number } {
  const sorted = sequences.toSorted((a, b) => a - b);
  return { from: sorted.at(0) ?? 0, to: sorted.at(-1) ?? 0, count: sorted.length };
}

interface LogCheckRow {
  checked_through: number;
  forgotten_through: number;
  same_server: boolean;
}

/** Stores which sequences of the log are settled, and up to which one the log was checked. */
export function createSettledStore(database: Database) {
  return {
    /**
     * Returns where the last check ended; a log that was never checked starts at `settledThrough`. Unsettled
     * sequences up to `forgottenThrough` may have been acknowledged before the database started, which may have
     * restored an earlier state.
     */
    async begin({
      settledThrough,
      deliveredThrough,
    }: Pick<LogState, 'settledThrough' | 'deliveredThrough'>): Promise<{
      from: number;
      forgottenThrough: number;
    }> {
      const read = `select checked_through, forgotten_through, server is not distinct from this_server() as same_server
        from log_check`;
      const known = await database.one<LogCheckRow>(read);
      if (known?.same_server)
        return { from: known.checked_through, forgottenThrough: known.forgotten_through };
      return await database.transaction(async (sql) => {
        const row = await sql.one<LogCheckRow>(`${read} for update`);
        if (row?.same_server) return { from: row.checked_through, forgottenThrough: row.forgotten_through };
        if (row === null) {
          await sql.run('delete from settled_batches where last_sequence <= $1', [settledThrough]);
          await sql.run('insert into log_check (checked_through, server) values ($1, this_server())', [
            settledThrough,
          ]);
          return { from: settledThrough, forgottenThrough: 0 };
        }
        await sql.run('update log_check set server = this_server(), forgotten_through = $1', [
          deliveredThrough,
        ]);
        return { from: row.checked_through, forgottenThrough: deliveredThrough };
      });
    },
    /** Like `begin`, but read-only; 0 before the first check. */
    async lastChecked(): Promise<number> {
      const row = await database.one<LogCheckRow>('select checked_through from log_check');
      return row?.checked_through ?? 0;
    },
    /**
     * Unsettled sequences in (after, through]. Sequences that another node has checked meanwhile are excluded. After
     * a log loss there are none, because the records are deleted.
     */
    async unsettled(after: number, through: number): Promise<number[]> {
      const rows = await database.many<{ sequence: number }>(
        `select sequence
         from log_check, generate_series(greatest(checked_through, $1::bigint) + 1, $2::bigint) as sequence
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
