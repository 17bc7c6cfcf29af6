import type { Platform } from '@earshot/contract';
import { provenForSeconds } from '../slots/receiving.sql.ts';
import {
  bestOf,
  clip,
  filled,
  type Repair,
  type RepairVia,
  type Span,
  type Timeline,
  withoutPlannedEnds,
  worstOf,
} from './timeline.ts';

/** The ledger rows of a rule or a platform within a window. */
export interface Ledger {
  /** The database's clock. */
  readonly now: Date;
  /** Everything received up to this time is matched. Later events may still wait in the event log. */
  readonly matchedThrough: Date;
  /** Start of the window that was read. Later than requested if there were too many rows. */
  readonly from: Date;
  readonly to: Date;
  /** Every requested platform, watched or not. */
  readonly platforms: readonly Platform[];
  /**
   * True if coverage needs all of `watched` (the sources of a platform); false if one is enough (the slots of a
   * rule).
   */
  readonly needsAll: boolean;
  readonly watched: readonly WatchedPeriod[];
  readonly intervals: ReadonlyMap<string, readonly Interval[]>;
  readonly missing: ReadonlyArray<{ slotId: string; from: Date; to: Date | null }>;
  readonly repairs: readonly SlotRepair[];
}

/** A period in which a source should listen, for one slot of the rule or for all slots of the source. */
export interface WatchedPeriod {
  readonly platform: Platform;
  readonly sourceId: string;
  readonly slotId: string | null;
  readonly from: Date;
  /** When the platform starts to apply the rule. */
  readonly appliedFrom: Date;
  readonly to: Date | null;
}

/** One connection of a source, and the repair of the gap before it. In chronological order. */
export interface Interval {
  readonly id: number;
  readonly from: Date;
  readonly to: Date;
  /** Null while it is open. */
  readonly endedBecause: string | null;
  /** While it is open: why its coverage is not proven, although its process runs. */
  readonly unprovenBecause?: string | null;
  readonly repair: 'under_way' | 'repaired' | 'partly' | 'none' | null;
  readonly repairVia: RepairVia | null;
  readonly repairBecause: string | null;
}

export interface SlotRepair extends Repair {
  readonly intervalId: number;
  readonly slotId: string;
}

const provenForMs = provenForSeconds * 1000;

export interface PlatformCoverage {
  readonly platform: Platform;
  readonly timeline: Timeline;
  /** Everything up to this time is known; null if the rule was not applied yet. */
  readonly completeThrough: number | null;
}

export function coverageOf(ledger: Ledger, { plannedEnds = false } = {}): PlatformCoverage[] {
  return ledger.platforms.map((platform) => {
    const watched = ledger.watched.filter((one) => one.platform === platform);
    const all = watched.map((one) => timelineOf(ledger, one));
    const whole = ledger.needsAll ? worstOf(all) : bestOf(all);
    const combined = plannedEnds ? whole : withoutPlannedEnds(whole);
    const from = ledger.from.getTime();
    const to = Math.min(ledger.to.getTime(), ledger.now.getTime());
    const cut = openEnded(clip(combined, from, to), combined, to);
    return {
      platform,
      timeline: filled(cut, from, knownUntil(ledger, watched, combined, to)),
      completeThrough: completeThrough(ledger, watched, combined),
    };
  });
}

/** Restores the end of the last span after clipping: none for an open gap, a future time while a rule starts. */
function openEnded(cut: Timeline, whole: Timeline, to: number): Timeline {
  const last = cut.at(-1);
  const end = whole.find((span) => span.from < to && span.to > to)?.to;
  if (!last || last.to !== to || end === undefined) return cut;
  const lasts = last.state === 'starting' || (last.state === 'gap' && end === Number.POSITIVE_INFINITY);
  return lasts ? [...cut.slice(0, -1), { ...last, to: end }] : cut;
}

/** While the rule is watched, the time since the last proof is unknown and must not become `not_watched`. */
function knownUntil(
  ledger: Ledger,
  watched: readonly WatchedPeriod[],
  timeline: Timeline,
  to: number,
): number {
  const now = ledger.now.getTime();
  const isWatched = watched.some((one) => one.to === null || one.to.getTime() > now);
  return isWatched ? Math.min(to, timeline.at(-1)?.to ?? to) : to;
}

function completeThrough(
  ledger: Ledger,
  watched: readonly WatchedPeriod[],
  timeline: Timeline,
): number | null {
  const begun = watched.filter(({ appliedFrom }) => appliedFrom <= ledger.to);
  if (begun.length === 0) return null;
  const covered = timeline.findLast(({ state }) => state === 'live' || state === 'repaired');
  const coveredThrough = covered?.to ?? Math.min(...begun.map(({ appliedFrom }) => appliedFrom.getTime()));
  return Math.min(coveredThrough, ledger.matchedThrough.getTime());
}

function timelineOf(ledger: Ledger, watched: WatchedPeriod): Timeline {
  const intervals = ledger.intervals.get(watched.sourceId) ?? [];
  const appliedFrom = watched.appliedFrom.getTime();
  const spans: Span[] = [];
  let coveredTo = Number.NEGATIVE_INFINITY;
  let reason = 'not_listening_yet';
  for (const interval of intervals) {
    const [from, to] = [interval.from.getTime(), interval.to.getTime()];
    if (from > coveredTo) {
      const repair = ownRepair(repairOf(ledger, interval, watched.slotId), appliedFrom > coveredTo);
      const state = repair?.state === 'repaired' ? 'repaired' : 'gap';
      spans.push({ from: coveredTo, to: from, state, reason, repair });
    }
    if (to > Math.max(from, coveredTo)) {
      spans.push({ from: Math.max(from, coveredTo), to, state: 'live', reason: null, repair: null });
    }
    coveredTo = Math.max(coveredTo, to);
    reason = interval.endedBecause ?? interval.unprovenBecause ?? 'process_died';
  }
  if (!isOpen(intervals.at(-1), ledger.now)) {
    spans.push({ from: coveredTo, to: Number.POSITIVE_INFINITY, state: 'gap', reason, repair: null });
  }
  const until = watched.to?.getTime() ?? Number.POSITIVE_INFINITY;
  const applied = clip(worstOf([spans, ...missingSpans(ledger, watched)]), appliedFrom, until);
  const starting = { from: watched.from.getTime(), to: Math.min(appliedFrom, until) };
  if (starting.from >= starting.to) return applied;
  return [{ ...starting, state: 'starting', reason: null, repair: null }, ...applied];
}

/** Matches found for the time before the rule existed are not counted for the rule. */
function ownRepair(repair: Repair | null, beganInGap: boolean): Repair | null {
  return repair && beganInGap ? { ...repair, matches: null } : repair;
}

function isOpen(last: Interval | undefined, now: Date): boolean {
  return last?.endedBecause === null && now.getTime() - last.to.getTime() < provenForMs;
}

/** Cannot be repaired: a platform replays only what matched a rule, and it did not have the rule. */
function missingSpans(ledger: Ledger, { slotId }: WatchedPeriod): Timeline[] {
  const own = ledger.missing.filter((one) => one.slotId === slotId);
  return own.map(({ from, to }) => [
    {
      from: from.getTime(),
      to: to?.getTime() ?? Number.POSITIVE_INFINITY,
      state: 'gap',
      reason: 'rule_missing',
      repair: null,
    },
  ]);
}

function repairOf(ledger: Ledger, interval: Interval, slotId: string | null): Repair | null {
  const own = ledger.repairs.find((one) => one.intervalId === interval.id && one.slotId === slotId);
  if (own) return own;
  const { repair, repairVia: via, repairBecause: because } = interval;
  const whole = { via, because, fidelity: [], matches: null };
  switch (repair) {
    case 'repaired':
      return { ...whole, state: 'repaired' };
    case 'none':
      return { ...whole, state: 'impossible' };
    case 'partly':
      // Slots that were registered during the gap have their own rows. For the source as a whole, some are not
      // repaired.
      return { ...whole, state: 'impossible', because: because ?? 'some_rules_not_repairable' };
    case 'under_way':
      return { ...whole, state: 'waiting' };
    case null:
      return null;
  }
}
