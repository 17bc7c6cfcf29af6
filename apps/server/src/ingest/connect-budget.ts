import type { Lease } from '../engines/leases.ts';
import { pause } from '../runtime/worker.ts';
import { type CallLimit, roomAt, type SpentCalls, spend, waitMsAt } from '../upstream/call-budget.ts';
import type { SourceStore } from './source-store.sql.ts';

export interface ConnectBudgetOptions {
  readonly sourceId: string;
  readonly limit: CallLimit;
  readonly sources: Pick<SourceStore, 'connectsMade' | 'recordConnect'>;
  readonly lease: Lease;
}

/**
 * The connection attempts that a source has left. A series of disconnects cannot use more. Includes attempts of
 * earlier holders of the source.
 */
export async function openConnectBudget({ sourceId, limit, sources, lease }: ConnectBudgetOptions) {
  const made = await sources.connectsMade(sourceId, limit);
  const now = performance.now();
  let spent: SpentCalls = made.map((agoMs) => now - agoMs);
  const waitMs = () => connectWaitMs(limit, spent, performance.now());
  return {
    /**
     * Time until the next attempt is allowed; 0 if it is allowed now. Near the limit, attempts are spread over the
     * window.
     */
    waitMs,
    /** Waits until the attempt is allowed and records it. */
    async take(signal: AbortSignal): Promise<void> {
      for (let ms = waitMs(); ms > 0 && !signal.aborted; ms = waitMs()) await pause(ms, signal);
      if (signal.aborted) return;
      spent = spend(limit, spent, performance.now());
      await sources.recordConnect(lease, sourceId, limit);
    },
  };
}

/** Attempts wait only if less than a quarter is left. Those are spread over the window. */
export function connectWaitMs(limit: CallLimit, spent: SpentCalls, nowMs: number): number {
  const isScarce = roomAt(limit, spent, nowMs) < limit.calls / 4;
  const sinceLastMs = nowMs - (spent.at(-1) ?? Number.NEGATIVE_INFINITY);
  const spacingMs = isScarce ? Math.max(0, limit.windowMs / limit.calls - sinceLastMs) : 0;
  return Math.ceil(Math.max(spacingMs, waitMsAt(limit, spent, nowMs)));
}
