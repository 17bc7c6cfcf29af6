import type { LoggedEvent } from '../event-log/logged-event.ts';
import type { Events } from '../observability/events.ts';

/** At most so many sequences per look, so that a look stays short. */
const lookAtMax = 20_000;
/** A node with the last good copy may be away for a while; until then nothing is given up. */
const giveUpAfterMs = 600_000;

/** What the log can tell about itself and about what it delivered. */
export interface CheckedLog {
  state(): Promise<LogState>;
  /** From whichever copy has it. `missing` were found in none of the copies that could be asked. */
  fetch(sequences: readonly number[]): Promise<{ found: LoggedEvent[]; missing: number[] }>;
  /** Has another node deliver from now on. */
  changeDeliverer(): Promise<void>;
}

export interface LogState {
  /** Another one when the log was made anew. */
  readonly createdAt: string;
  /** Everything up to here was delivered and acknowledged, or left out. */
  readonly settledThrough: number;
  /** The last sequence, when nothing waits to be delivered or acknowledged; else null. */
  readonly idleAt: number | null;
  /** The node that delivers. */
  readonly deliverer: string | null;
  readonly copies: number;
}

export interface SettledStore {
  /** Where the last check ended; starts at `from` for a log that was never checked. */
  checkedThrough(logCreatedAt: string, from: number): Promise<number>;
  /** Sequences in (after, through] that nobody has settled. */
  unsettled(after: number, through: number): Promise<number[]>;
  advance(through: number): Promise<void>;
}

export interface CheckLogOptions {
  readonly log: CheckedLog;
  readonly settled: SettledStore;
  readonly store: (batch: readonly LoggedEvent[]) => Promise<unknown>;
  readonly events: Events;
  readonly nowMs: () => number;
}

/**
 * A damaged copy of the log leaves events out and says nothing: its consumer reports that nothing is pending. So whoever
 * settles an event writes its sequence down, and this compares: a sequence that the log has passed and nobody has settled
 * is a hole. It is fetched from the other copies and stored like any other event.
 */
export function createCheckLog({ log, settled, store, events, nowMs }: CheckLogOptions) {
  let idleBefore = 0;
  let firstSeenAt = new Map<number, number>();
  return async (): Promise<void> => {
    const state = await log.state();
    const from = await settled.checkedThrough(state.createdAt, state.settledThrough);
    // The deliverer may be a moment behind the log, so the end counts only when it was idle at the last look as well.
    const idle = Math.min(state.idleAt ?? 0, idleBefore);
    idleBefore = state.idleAt ?? 0;
    const through = Math.min(Math.max(state.settledThrough, idle), from + lookAtMax);
    if (through <= from) return;
    const holes = await settled.unsettled(from, through);
    const fresh = holes.filter((sequence) => !firstSeenAt.has(sequence));
    if (fresh.length > 0) events.logHoleFound({ ...spanOf(fresh), consumerLeader: state.deliverer });
    firstSeenAt = new Map(holes.map((sequence) => [sequence, firstSeenAt.get(sequence) ?? nowMs()]));
    const left = holes.length > 0 ? await recover(holes, state) : [];
    const lost = left.filter((sequence) => isGivenUp(sequence, state));
    if (lost.length > 0) events.logHoleLost(spanOf(lost));
    const open = left.filter((sequence) => !isGivenUp(sequence, state));
    const reached = open.length > 0 ? Math.min(...open) - 1 : through;
    await settled.advance(reached);
    events.logChecked(reached);
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
    if (isSettled.size > 0) events.logHoleRecovered({ count: isSettled.size });
    return [...missing, ...found.map(({ sequence }) => sequence).filter((one) => !isSettled.has(one))];
  }
}

function spanOf(sequences: readonly number[]): { from: number; to: number; count: number } {
  const sorted = sequences.toSorted((a, b) => a - b);
  return { from: sorted.at(0) ?? 0, to: sorted.at(-1) ?? 0, count: sorted.length };
}
