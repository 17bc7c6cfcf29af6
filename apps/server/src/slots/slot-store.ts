import type { Lease } from '../engines/leases.ts';
import type { CallLimit } from '../upstream/call-budget.ts';
import type { Problem, Slot } from './slot.ts';

/** What a registrar needs. Every change names the lease and throws LeaseLost when its epoch has passed. */
export interface RegistrarStore extends CallStore {
  slotsOf(sourceId: string): Promise<Slot[]>;
  /** Without those that came back. */
  wanted(sourceId: string, limit: number): Promise<Slot[]>;
  /** Whether slots were moved away and came back: the source may still have their rules, so it lists before it adds. */
  cameBack(sourceId: string): Promise<boolean>;
  /** These, which are wanted, were compared with the upstream's list: they came back no longer. */
  recordCompared(lease: Lease, slotIds: readonly string[]): Promise<void>;
  /** Picks slots to remove upstream: `releasing` without a holder becomes `deleting`. */
  beginDeleting(lease: Lease, sourceId: string, limit: number): Promise<Slot[]>;
  recordRegistered(lease: Lease, registered: readonly Registered[]): Promise<void>;
  recordProblem(lease: Lease, slotIds: readonly string[], problem: Problem): Promise<void>;
  /** Not upstream any more: the row goes, or becomes `wanted` when somebody took it meanwhile. */
  recordGone(lease: Lease, slotIds: readonly string[]): Promise<void>;
  /** Registered, but not upstream any more: wanted again, and missing since the upstream was last seen with it. */
  recordVanished(lease: Lease, slotIds: readonly string[]): Promise<void>;
  /** The upstream's list was read, beginning that long ago. */
  recordSeen(lease: Lease, sourceId: string, agoMs: number): Promise<void>;
  /** Failed slots that were registered once, and are still held, are wanted again when their time has come. */
  retryFailed(lease: Lease, sourceId: string): Promise<void>;
  /** What the upstream says that the source takes; null: nothing new, and what was learnt long ago is forgotten. */
  recordCapacity(lease: Lease, sourceId: string, learnt: number | null): Promise<void>;
  /** Slots for which the source has no place: given to others with room, or failed. Returns how many were given. */
  recordFull(lease: Lease, full: FullSource): Promise<number>;
  /** Gives slots of a source that is being drained to others with room; returns how many. */
  moveAway(lease: Lease, sourceId: string, limit: number): Promise<number>;
  /** Moved away, not upstream here any more, and not registered there yet: missing, and wanted here if there is no room. */
  takeBack(lease: Lease, sourceId: string, slotIds: readonly string[]): Promise<void>;
  /** Slots that were moved away and are not served by their new source yet. */
  movedFrom(sourceId: string): Promise<string[]>;
}

/** Remembers the calls of a source, so that its next holder does not spend them again. */
export interface CallStore {
  recordCall(lease: Lease, sourceId: string, limit: CallLimit): Promise<void>;
  /** Oldest first. */
  callsMade(sourceId: string): Promise<Array<{ bucket: string; agoMs: number }>>;
}

export interface FullSource {
  readonly sourceId: string;
  readonly slotIds: readonly string[];
  /** How many rules it takes, as this taught. */
  readonly learnt: number;
  /** The upstream's own. */
  readonly words: string;
}

export interface Registered {
  readonly slotId: string;
  readonly upstreamRuleId: string;
  readonly foreignRule: boolean;
}
