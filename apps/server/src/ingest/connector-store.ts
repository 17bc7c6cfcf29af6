import type { Lease } from '../engines/leases.ts';
import type { CallLimit } from '../upstream/call-budget.ts';
import type { EndingKind } from '../upstream/stream-ending.ts';
import type { SourceState } from './connector.ts';

/** What the connector of a source leaves for people and for its successor. Changes throw LeaseLost without the lease. */
export interface ConnectorStore {
  /** Attempts to connect that may still count, in ms ago, oldest first. */
  connectsMade(sourceId: string, limit: CallLimit): Promise<number[]>;
  /** Before the attempt: one too many on the list is harmless, one too few is not. */
  recordConnect(lease: Lease, sourceId: string, limit: CallLimit): Promise<void>;
  /** Throws LeaseLost unless the lease is still held. */
  assertHeld(lease: Lease): Promise<void>;
  recordState(lease: Lease, sourceId: string, shown: ShownState): Promise<void>;
  /** Nobody listens since the last interval of coverage ended, and this is what keeps it so. */
  explainGap(lease: Lease, sourceId: string, reason: EndingKind): Promise<void>;
  usualPerMinute(sourceId: string): Promise<number | null>;
  recordUsual(lease: Lease, sourceId: string, perMinute: number): Promise<void>;
}

export interface ShownState {
  readonly state: SourceState;
  readonly detail: string | null;
  readonly nextAttemptInMs: number | null;
}
