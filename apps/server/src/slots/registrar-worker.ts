import {
  createLeasedWorker,
  everyUnderLease,
  type Lease,
  type LeasedWorkerOptions,
} from '../engines/leases.ts';
import type { Worker } from '../runtime/worker.ts';
import { UpstreamUnavailable } from '../upstream/upstream-rules.ts';
import { openPace } from './pace.ts';
import {
  drainWithoutUpstream,
  learnCapacity,
  type RegistrarStep,
  reconcileSource,
  registerWanted,
  removeReleased,
  removeStopped,
} from './registrar-steps.ts';

const defaultTiming = {
  reconcileEveryMs: 30_000,
  learnCapacityEveryMs: 600_000,
  pollIntervalMs: 1_000,
  retryDelayMs: 1_000,
};
/** While calls are scarce, the periodic comparison runs this many times less often. */
const scarceReconcileFactor = 10;

export interface RegistrarOptions
  extends Omit<RegistrarStep, 'lease' | 'pace' | 'quiet'>,
    LeasedWorkerOptions {
  readonly timing?: Partial<typeof defaultTiming>;
  readonly accountShare?: number;
}

/**
 * Keeps one source's upstream rules equal to its slots. Everything that changes the upstream happens here, one step after the other, so
 * a list and a change never interleave. At the start, after a lost answer and every 30 s it compares with the upstream's list before it
 * changes anything again. It compares less often if the list would use more than half of the calls.
 */
export function createRegistrarWorker(options: RegistrarOptions): Worker {
  const name = `registrar:${options.sourceId}`;
  return createLeasedWorker({ name }, options, (lease, held) => keepInStep(options, lease, held));
}

/**
 * Drains a source for which this node has no token. Its lease is not that of a registrar, because another node may still have the token,
 * and because sources with a registrar are given slots.
 */
export function createDrainWorker(
  options: Pick<RegistrarStep, 'sourceId' | 'store' | 'bells' | 'telemetry'> & LeasedWorkerOptions,
): Worker {
  return everyUnderLease(options, `drain:${options.sourceId}`, defaultTiming.pollIntervalMs, (lease) =>
    drainWithoutUpstream({ ...options, lease }),
  );
}

async function keepInStep(options: RegistrarOptions, lease: Lease, signal: AbortSignal): Promise<void> {
  const { upstream, sourceId, platform, store, accountShare } = options;
  const timing = { ...defaultTiming, ...options.timing };
  const { reconcileEveryMs, pollIntervalMs, retryDelayMs } = timing;
  using bell = options.bells.listen('slots');
  const pace = await openPace({ sourceId, limits: upstream.limits, store, accountShare }, lease, signal);
  const step: RegistrarStep = { ...options, lease, pace, quiet: { last: null } };
  let mustReconcile = true;
  let reconciledAt = performance.now();
  let listCalls = 0;
  let learntAt = Number.NEGATIVE_INFINITY;
  while (!signal.aborted) {
    pace.callsMade();
    try {
      const due = performance.now() - reconciledAt >= apartMs(step, reconcileEveryMs, listCalls);
      let mayHaveWork = await store.mayHaveWork(sourceId);
      if (mustReconcile || due || (mayHaveWork && (await store.hasReturned(sourceId)))) {
        const { ours, calls } = await reconcileSource(step);
        mustReconcile = false;
        mayHaveWork = true;
        reconciledAt = performance.now();
        listCalls = calls;
        if (reconciledAt - learntAt >= timing.learnCapacityEveryMs) {
          await learnCapacity(step, ours);
          learntAt = reconciledAt;
        }
      }
      const worked = mayHaveWork ? await workOff(step) : 0;
      if (worked === 0) await bell.wait(Math.min(pollIntervalMs, reconcileEveryMs), signal);
    } catch (error) {
      if (!(error instanceof UpstreamUnavailable)) throw error;
      // The call was aborted because the lease or the process ended: not a failure of the upstream.
      if (signal.aborted) return;
      mustReconcile ||= !error.notCalled || pace.callsMade() > 0;
      const { notCalled, retryAfterMs } = error;
      if (notCalled) step.telemetry.ruleCallPostponed({ platform, sourceId, waitMs: retryAfterMs ?? 0 });
      else step.telemetry.upstreamRulesFailed({ platform, sourceId, err: error });
      // A call that was not made may be retried soon.
      const waitMs = notCalled ? pollIntervalMs : Math.max(retryDelayMs, retryAfterMs ?? 0);
      const untilMs = performance.now() + waitMs;
      // Slots that begin to wait in the meantime get the reason as well.
      for (let leftMs = waitMs; leftMs > 0 && !signal.aborted; leftMs = untilMs - performance.now()) {
        if (error.blockedBy !== null) await drainWithoutUpstream(step);
        await recordWaitReason(step, error);
        await bell.wait(Math.min(pollIntervalMs, leftMs), signal);
      }
    }
  }
}

/** Returns how many slots it handled. */
async function workOff(step: RegistrarStep): Promise<number> {
  const stopped = await removeStopped(step);
  return stopped + (await registerWanted(step)) + (await removeReleased(step));
}

/** The interval of the periodic comparison, whose list needed so many calls. */
function apartMs({ pace }: RegistrarStep, reconcileEveryMs: number, listCalls: number): number {
  const isScarce = pace.isShort('read') || pace.isShort('change');
  return Math.max(reconcileEveryMs * (isScarce ? scarceReconcileFactor : 1), pace.apartMs('read', listCalls));
}

/** Writes the reason to the waiting slots, where their callers find it. */
async function recordWaitReason(
  { store, sourceId, upstream, bells, lease }: RegistrarStep,
  error: UpstreamUnavailable,
): Promise<void> {
  const waiting = await store.wanted(sourceId, upstream.batchMax);
  if (waiting.length === 0) return;
  await store.recordProblem(
    lease,
    waiting.map((slot) => slot.id),
    { kind: error.blockedBy ?? 'unavailable', words: error.message },
  );
  bells.ring('slot_outcomes');
}
