import type { Platform } from '@earshot/contract';
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

/** What the ledger has about a rule or a platform, within a window. */
export interface Ledger {
  /** The database's clock. */
  readonly now: Date;
  /** What was heard until then has been matched; what was heard later may still wait in the event log. */
  readonly matchedThrough: Date;
  /** Where the window begins for which the rows were read: later than asked when there were too many. */
  readonly from: Date;
  readonly to: Date;
  /** Every platform that was asked about, watched or not. */
  readonly platforms: readonly Platform[];
  /** `together`: all are needed at the same time (a platform's sources); else one is enough (a rule's slots). */
  readonly together: boolean;
  readonly watched: readonly Watched[];
  readonly intervals: ReadonlyMap<string, readonly Interval[]>;
  readonly missing: ReadonlyArray<{ slotId: string; from: Date; to: Date | null }>;
  readonly repairs: readonly SlotRepair[];
}

/** A time in which a source was to listen: for a slot of the rule, or for whatever is on it. */
export interface Watched {
  readonly platform: Platform;
  readonly sourceId: string;
  readonly slotId: string | null;
  readonly from: Date;
  /** From then on the platform heeds the rule. */
  readonly heardFrom: Date;
  readonly to: Date | null;
}

/** One connection of a source, and what became of the gap before it. In order of time. */
export interface Interval {
  readonly id: number;
  readonly from: Date;
  readonly to: Date;
  /** Null while it is open. */
  readonly endedBecause: string | null;
  readonly repair: 'under_way' | 'repaired' | 'partly' | 'none' | null;
  readonly repairVia: RepairVia | null;
  readonly repairBecause: string | null;
}

export interface SlotRepair extends Repair {
  readonly intervalId: number;
  readonly slotId: string;
}

/** An open interval that was not proven for this long belongs to a process that died. */
const provenForMs = 10_000;

export interface PlatformCoverage {
  readonly platform: Platform;
  readonly timeline: Timeline;
  /** Everything up to then is known; null when nothing was to be heard. */
  readonly completeThrough: number | null;
}

export function coverageOf(ledger: Ledger, { plannedEnds = false } = {}): PlatformCoverage[] {
  return ledger.platforms.map((platform) => {
    const watched = ledger.watched.filter((one) => one.platform === platform);
    const all = watched.map((one) => timelineOf(ledger, one));
    const whole = ledger.together ? worstOf(all) : bestOf(all);
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

/** A gap that is still open has no end, even where the window ends; a rule that is starting has an end that is known. */
function openEnded(cut: Timeline, whole: Timeline, to: number): Timeline {
  const last = cut.at(-1);
  const end = whole.find((span) => span.from < to && span.to > to)?.to;
  if (!last || last.to !== to || end === undefined) return cut;
  const lasts = last.state === 'starting' || (last.state === 'gap' && end === Number.POSITIVE_INFINITY);
  return lasts ? [...cut.slice(0, -1), { ...last, to: end }] : cut;
}

/** While the rule is watched, the time since the last proof is not known yet, and so not `not_watched`. */
function knownUntil(ledger: Ledger, watched: readonly Watched[], timeline: Timeline, to: number): number {
  const now = ledger.now.getTime();
  const isWatched = watched.some((one) => one.to === null || one.to.getTime() > now);
  return isWatched ? Math.min(to, timeline.at(-1)?.to ?? to) : to;
}

function completeThrough(ledger: Ledger, watched: readonly Watched[], timeline: Timeline): number | null {
  const begun = watched.filter(({ heardFrom }) => heardFrom <= ledger.to);
  if (begun.length === 0) return null;
  const heard = timeline.findLast(({ state }) => state === 'live' || state === 'repaired');
  const heardThrough = heard?.to ?? Math.min(...begun.map(({ heardFrom }) => heardFrom.getTime()));
  return Math.min(heardThrough, ledger.matchedThrough.getTime());
}

function timelineOf(ledger: Ledger, watched: Watched): Timeline {
  const intervals = ledger.intervals.get(watched.sourceId) ?? [];
  const heardFrom = watched.heardFrom.getTime();
  const spans: Span[] = [];
  let coveredTo = Number.NEGATIVE_INFINITY;
  let reason = 'not_listening_yet';
  for (const interval of intervals) {
    const [from, to] = [interval.from.getTime(), interval.to.getTime()];
    if (from > coveredTo) {
      const repair = ownRepair(repairOf(ledger, interval, watched.slotId), heardFrom > coveredTo);
      const state = repair?.state === 'repaired' ? 'repaired' : 'gap';
      spans.push({ from: coveredTo, to: from, state, reason, repair });
    }
    if (to > Math.max(from, coveredTo)) {
      spans.push({ from: Math.max(from, coveredTo), to, state: 'live', reason: null, repair: null });
    }
    coveredTo = Math.max(coveredTo, to);
    reason = interval.endedBecause ?? 'process_died';
  }
  if (!isOpen(intervals.at(-1), ledger.now)) {
    spans.push({ from: coveredTo, to: Number.POSITIVE_INFINITY, state: 'gap', reason, repair: null });
  }
  const until = watched.to?.getTime() ?? Number.POSITIVE_INFINITY;
  const heard = clip(worstOf([spans, ...missingSpans(ledger, watched)]), heardFrom, until);
  const starting = { from: watched.from.getTime(), to: Math.min(heardFrom, until) };
  if (starting.from >= starting.to) return heard;
  return [{ ...starting, state: 'starting', reason: null, repair: null }, ...heard];
}

/** How much a search found before the rule was there is not the rule's. */
function ownRepair(repair: Repair | null, beganInGap: boolean): Repair | null {
  return repair && beganInGap ? { ...repair, matches: null } : repair;
}

function isOpen(last: Interval | undefined, now: Date): boolean {
  return last?.endedBecause === null && now.getTime() - last.to.getTime() < provenForMs;
}

/** These cannot be repaired: the upstream replays what matched a rule, and the rule was not there. */
function missingSpans(ledger: Ledger, { slotId }: Watched): Timeline[] {
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
      // Slots that were registered during the gap have rows of their own; for the source as a whole some are missing.
      return { ...whole, state: 'impossible', because: because ?? 'some_rules_not_repairable' };
    case 'under_way':
      return { ...whole, state: 'waiting' };
    case null:
      return null;
  }
}
