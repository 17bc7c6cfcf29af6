import type { Lease } from '../runtime/lease.ts';
import type { Problem, Slot } from './slot.ts';

/** What a registrar needs. Every change names the lease and throws LeaseLost when its epoch has passed. */
export interface RegistrarStore {
  slotsOf(sourceId: string): Promise<Slot[]>;
  wanted(sourceId: string, limit: number): Promise<Slot[]>;
  /** Picks slots to remove upstream: `releasing` without a holder becomes `deleting`. */
  beginDeleting(lease: Lease, sourceId: string, limit: number): Promise<Slot[]>;
  recordRegistered(lease: Lease, registered: readonly Registered[]): Promise<void>;
  recordProblem(lease: Lease, slotIds: readonly string[], problem: Problem): Promise<void>;
  /** Not upstream any more: the row goes, or becomes `wanted` when somebody took it meanwhile. */
  recordGone(lease: Lease, slotIds: readonly string[]): Promise<void>;
  recordVanished(lease: Lease, slotIds: readonly string[]): Promise<void>;
}

export interface Registered {
  readonly slotId: string;
  readonly upstreamRuleId: string;
  readonly foreignRule: boolean;
}
