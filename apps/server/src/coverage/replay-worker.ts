import type { Events } from '../observability/events.ts';
import type { Lease } from '../runtime/lease.ts';
import { createLeasedWorker, type LeasedWorkerOptions } from '../runtime/leased-worker.ts';
import { pause } from '../runtime/pause.ts';
import type { Worker } from '../runtime/worker.ts';
import type { RepairStore } from './repair-store.ts';
import { judgeReplay, type ReplayEvidence } from './replay.ts';

const lookEveryMs = 1_000;

export interface ReplayWorkerOptions extends LeasedWorkerOptions {
  readonly sourceId: string;
  readonly store: Pick<RepairStore, 'openGaps' | 'settleWhole'>;
  /** Null while the source has never listened. */
  readonly latestInterval: (sourceId: string) => Promise<ReplayEvidence['latest'] | null>;
  readonly lastEvent: (sourceId: string) => Promise<ReplayEvidence['lastEvent']>;
  readonly events: Events;
}

/** The stream itself repairs the gaps of Firehose, by resuming; this says on the ledger when it has. */
export function createReplayWorker(options: ReplayWorkerOptions): Worker {
  const name = `replay:${options.sourceId}`;
  return createLeasedWorker({ name }, options, async (lease, held) => {
    while (!held.aborted) {
      await settleReplayed(options, lease);
      await pause(lookEveryMs, held);
    }
  });
}

async function settleReplayed(options: ReplayWorkerOptions, lease: Lease): Promise<void> {
  const { sourceId, store, events } = options;
  const gaps = await store.openGaps(sourceId, 0);
  if (gaps.length === 0) return;
  // In this order: an event that is logged between the two questions must not look older than the proof.
  const latest = await options.latestInterval(sourceId);
  const lastEvent = await options.lastEvent(sourceId);
  if (!latest) return;
  for (const gap of gaps) {
    const verdict = judgeReplay(gap, { lastEvent, latest });
    if (verdict === 'not_yet') continue;
    const isThrough = verdict === 'through';
    await store.settleWhole(lease, gap, {
      repair: isThrough ? 'repaired' : 'none',
      via: 'replay',
      because: isThrough ? null : 'longer_than_replay',
    });
    if (isThrough) events.gapRepaired({ sourceId, from: gap.from, to: gap.to, via: 'replay' });
  }
}
