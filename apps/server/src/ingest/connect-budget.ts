import type { Lease } from '../engines/leases.ts';
import { pause } from '../runtime/pause.ts';
import { type CallLimit, roomAt, type SpentCalls, spend, waitMsAt } from '../upstream/call-budget.ts';
import type { ConnectorStore } from './connector-store.ts';

/** The attempts to connect that a source has left, whatever its stream does: a storm of cuts cannot use up more. */
export interface ConnectBudget {
  /** Until the next attempt fits; 0 when it does now. Near the end the attempts are spread over the window. */
  waitMs(): number;
  /** Waits for its turn and writes the attempt down. */
  take(signal: AbortSignal): Promise<void>;
}

export interface ConnectBudgetOptions {
  readonly sourceId: string;
  readonly limit: CallLimit;
  readonly store: ConnectorStore;
  readonly lease: Lease;
}

/** Knows what former holders of the source spent. */
export async function openConnectBudget(options: ConnectBudgetOptions): Promise<ConnectBudget> {
  const { sourceId, limit, store, lease } = options;
  const made = await store.connectsMade(sourceId, limit);
  const now = performance.now();
  let spent: SpentCalls = made.map((agoMs) => now - agoMs);
  const waitMs = () => connectWaitMs(limit, spent, performance.now());
  return {
    waitMs,
    async take(signal) {
      for (let ms = waitMs(); ms > 0 && !signal.aborted; ms = waitMs()) await pause(ms, signal);
      if (signal.aborted) return;
      spent = spend(limit, spent, performance.now());
      await store.recordConnect(lease, sourceId, limit);
    },
  };
}

/** While much is left nobody waits; the last quarter is spread as the window gives attempts back. */
export function connectWaitMs(limit: CallLimit, spent: SpentCalls, nowMs: number): number {
  const isScarce = roomAt(limit, spent, nowMs) < limit.calls / 4;
  const sinceLastMs = nowMs - (spent.at(-1) ?? Number.NEGATIVE_INFINITY);
  const spacingMs = isScarce ? Math.max(0, limit.windowMs / limit.calls - sinceLastMs) : 0;
  return Math.ceil(Math.max(spacingMs, waitMsAt(limit, spent, nowMs)));
}
