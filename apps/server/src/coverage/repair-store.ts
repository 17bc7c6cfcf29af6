import type { Lease } from '../engines/leases.ts';
import type { RepairVia } from './timeline.ts';

/** A gap that is over, by the interval that ended it. */
export interface Gap {
  readonly id: number;
  readonly from: Date;
  readonly to: Date;
  readonly planned: boolean;
}

export interface AffectedSlot {
  readonly slotId: string;
  readonly value: string;
  /** Since when the source had it. */
  readonly since: Date;
}

export interface PlannedRepair {
  readonly slotId: string;
  readonly state: 'waiting' | 'impossible';
  readonly because: string | null;
  readonly fidelity: readonly string[];
}

export interface WaitingRepair extends AffectedSlot {
  readonly nextToken: string | null;
  readonly matches: number;
  readonly because: string | null;
}

export interface RepairProgress {
  readonly nextToken: string | null;
  /** All so far. */
  readonly matches: number;
  readonly state: 'waiting' | 'done' | 'impossible';
  readonly because: string | null;
}

/** What repairs need of the ledger. Every change names the lease and throws LeaseLost when its epoch has passed. */
export interface RepairStore {
  /** Gaps about which something is to be done, that ended at least that long ago, oldest first. */
  openGaps(sourceId: string, endedBeforeMs: number): Promise<Gap[]>;
  /** Slots that the source had during the gap, and that somebody still holds. */
  affectedSlots(sourceId: string, gap: Gap): Promise<AffectedSlot[]>;
  plan(lease: Lease, gap: Gap, repairs: readonly PlannedRepair[]): Promise<void>;
  nextWaiting(gap: Gap): Promise<WaitingRepair | null>;
  recordProgress(lease: Lease, gap: Gap, slotId: string, progress: RepairProgress): Promise<void>;
  /** All that still wait say what they wait for. */
  recordWaiting(lease: Lease, gap: Gap, because: string): Promise<void>;
  /** Nothing waits any more: the gap is repaired for all slots, for some, or for none. */
  settle(lease: Lease, gap: Gap): Promise<void>;
  /** The whole source at once. */
  settleWhole(lease: Lease, gap: Gap, outcome: WholeOutcome): Promise<void>;
  /** Posts that were paid for on this UTC day. */
  spentToday(): Promise<number>;
  recordSpent(posts: number): Promise<void>;
}

export interface WholeOutcome {
  readonly repair: 'repaired' | 'none';
  readonly via: RepairVia;
  readonly because: string | null;
}
