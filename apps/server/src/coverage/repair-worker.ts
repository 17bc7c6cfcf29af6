import { createLeasedWorker, type Lease, type LeasedWorkerOptions } from '../engines/leases.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import { pause, type Worker } from '../runtime/worker.ts';
import { UpstreamUnavailable } from '../upstream/upstream-rules.ts';
import type { Gap, RepairStore } from './repair-store.sql.ts';

/** Search lags behind the stream: newer posts may not be in its index yet. */
const searchableAfterMs = 30_000;
const lookEveryMs = 5_000;
const retryAfterMs = 60_000;

export interface RepairWorkerOptions extends LeasedWorkerOptions {
  readonly sourceId: string;
  readonly store: Pick<RepairStore, 'openGaps' | 'settleWhole'>;
  /** False when it has to wait, for example for the budget of the next day. */
  readonly repair: (work: { gap: Gap; lease: Lease }, signal: AbortSignal) => Promise<boolean>;
  /** For tests: how many times faster the limits of the upstream pass. */
  readonly pace: number;
  readonly telemetry: Telemetry;
}

/** Repairs the gaps of one source, the oldest first; one worker in the whole installation. */
export function createRepairWorker(options: RepairWorkerOptions): Worker {
  const name = `repair:${options.sourceId}`;
  return createLeasedWorker({ name }, options, (lease, held) => keepRepairing(options, lease, held));
}

async function keepRepairing(options: RepairWorkerOptions, lease: Lease, signal: AbortSignal): Promise<void> {
  const { store, sourceId, pace, telemetry } = options;
  while (!signal.aborted) {
    const gaps = await store.openGaps(sourceId, searchableAfterMs / pace);
    let waitMs = lookEveryMs;
    for (const gap of gaps) {
      if (signal.aborted) return;
      if (gap.reason === 'budget') {
        // To search for it would spend the next period's budget on what this one did not allow.
        await store.settleWhole(lease, gap, { repair: 'none', via: 'search', because: gap.reason });
        continue;
      }
      try {
        if (!(await options.repair({ gap, lease }, signal))) waitMs = retryAfterMs;
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof UpstreamUnavailable)) throw error;
        waitMs = error.retryAfterMs ?? retryAfterMs;
        telemetry.repairPutOff({ sourceId, waitMs, err: error });
        break;
      }
    }
    await pause(waitMs / pace, signal);
  }
}
