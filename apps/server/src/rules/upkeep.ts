import type { Bells } from '../engines/bells.ts';
import { awaitMatched, type MatchProgress } from '../event-log/log-progress.ts';
import type { Events } from '../observability/events.ts';

/** Longer than a creation or a change may take, so that nobody is still waiting for it. */
const abandonedAfterMs = 25_000;
const matchedLookMs = 500;

export interface AbandonedRules {
  abandonOlderThan(ms: number): Promise<number>;
}

/** Undoes creations whose process died before it answered: nobody was told of them. */
export async function undoAbandonedCreations(options: {
  readonly store: AbandonedRules;
  readonly bells: Bells;
  readonly events: Events;
}): Promise<void> {
  const undone = await options.store.abandonOlderThan(abandonedAfterMs);
  options.events.abandonedCreationsUndone(undone);
  if (undone > 0) options.bells.ring('slots');
}

export interface RuleUpkeep {
  /** Pauses rules whose time is over; returns how many. */
  pauseExpired(): Promise<number>;
  undoChangesOlderThan(ms: number): Promise<number>;
}

/** Pauses rules that have expired, and undoes changes whose process died before it answered. */
export async function upkeepRules(options: {
  readonly store: RuleUpkeep;
  readonly bells: Bells;
  readonly events: Events;
}): Promise<void> {
  const { store, bells, events } = options;
  const expired = await store.pauseExpired();
  const undone = await store.undoChangesOlderThan(abandonedAfterMs);
  events.rulesExpired(expired);
  events.abandonedChangesUndone(undone);
  if (expired + undone > 0) bells.ring('slots');
}

export interface OldSlot {
  readonly ruleId: string;
  readonly slotId: string;
}

export interface OldSlots {
  /** Slots that rules hold for an older version, and that have been kept long enough. */
  due(): Promise<OldSlot[]>;
  /** Leaves those of them that no newer version has taken up again; returns how many. */
  release(slots: readonly OldSlot[]): Promise<number>;
}

/**
 * After a change of value: gives up the old slot, once every event that was logged while it was needed has found
 * its rules. Matching that lags behind delays this, so it never costs a match.
 */
export async function releaseOldSlots(
  options: { readonly store: OldSlots; readonly progress: MatchProgress; readonly bells: Bells },
  signal: AbortSignal,
): Promise<void> {
  const { store, progress, bells } = options;
  const due = await store.due();
  if (due.length === 0) return;
  await awaitMatched(progress, matchedLookMs, signal);
  if (signal.aborted) return;
  if ((await store.release(due)) > 0) bells.ring('slots');
}
