import { createLeasedWorker, type Lease, type LeasedWorkerOptions } from '../engines/leases.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import { pause, type Worker } from '../runtime/worker.ts';
import { UpstreamUnavailable } from '../upstream/upstream-rules.ts';
import type { Gap, RepairStore } from './repair-store.sql.ts';

/** The search index lags behind the stream. */
const searchableAfterMs = 30_000;
const pollIntervalMs = 5_000;
const retryAfterMs = 60_000;

export interface RepairWorkerOptions extends LeasedWorkerOptions {
  readonly sourceId: string;
  readonly store: Pick<RepairStore, 'openGaps' | 'settleWhole'>;
  /** Returns false if it must wait, for example for the next day's budget. */
  readonly repair: (work: { gap: Gap; lease: Lease }, signal: AbortSignal) => Promise<boolean>;
  /** For tests: factor by which upstream limits pass faster. */
  readonly pace: number;
  readonly telemetry: Telemetry;
}

/** Repairs the gaps of one source, oldest first. The lease allows one worker per source. */
export function createRepairWorker(options: RepairWorkerOptions): Worker {
  const name = `repair:${options.sourceId}`;
  return createLeasedWorker({ name }, options, (lease, held) => keepRepairing(options, lease, held));
}

async function keepRepairing(options: RepairWorkerOptions, lease: Lease, signal: AbortSignal): Promise<void> {
  const { store, sourceId, pace, telemetry } = options;
  while (!signal.aborted) {
    const gaps = await store.openGaps(sourceId, searchableAfterMs / pace);
    let waitMs = pollIntervalMs;
    for (const gap of gaps) {
      if (signal.aborted) return;
      if (gap.reason === 'budget') {
        // A search would spend the next period's budget on posts that this period's budget excluded.
        await store.settleWhole(lease, gap, { repair: 'none', via: 'search', because: gap.reason });
        continue;
      }
      try {
        if (!(await options.repair({ gap, lease }, signal))) waitMs = retryAfterMs;
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof UpstreamUnavailable)) throw error;
        waitMs = error.retryAfterMs ?? retryAfterMs;
        telemetry.repairPostponed({ sourceId, waitMs, err: error });
        break;
      }
    }
    await pause(waitMs / pace, signal);
  }
}
