import type { Coverage, Platform } from '@earshot/contract';

/** When the sources of a rule or a platform were listening. */
export interface CoverageStore {
  intervals(asked: CoverageAsked): Promise<SourceIntervals[]>;
}

export interface CoverageAsked {
  readonly accountId: string;
  readonly ruleId: string | null;
  readonly platform: Platform | null;
}

export interface SourceIntervals {
  readonly platform: Platform;
  /** From when on the answer speaks of this source. */
  readonly from: Date;
  /** In order of time; the last one may still be open. */
  readonly live: ReadonlyArray<{ from: Date; to: Date; endedBecause: string | null }>;
  readonly isLive: boolean;
  /** When the upstream did not have the rule, though it was registered; the last may be open. */
  readonly missing: ReadonlyArray<{ from: Date; to: Date | null }>;
}

export type ReadCoverage = (asked: CoverageAsked) => Promise<Coverage>;

const gapsMax = 100;
/** Firehose replays what it has for about a day: a gap shorter than that was filled when the stream came back. */
const replayedMs = 23 * 3_600_000;

export function createReadCoverage(store: CoverageStore): ReadCoverage {
  return async (asked) => toCoverage(await store.intervals(asked));
}

/** Whatever lies between two intervals is a gap; the last one is open while nobody listens. */
export function toCoverage(sources: readonly SourceIntervals[]): Coverage {
  const gaps: Coverage['gaps'] = [];
  let completeThrough: Date | null = null;
  for (const { platform, from, live, isLive, missing } of sources) {
    let covered = from;
    let reason = 'not_listening_yet';
    for (const interval of live) {
      if (interval.from > covered) gaps.push(gap(platform, covered, interval.from, reason));
      if (interval.to > covered) covered = interval.to;
      reason = interval.endedBecause ?? 'process_died';
    }
    if (!isLive) gaps.push(gap(platform, covered, null, reason));
    for (const { from: missingFrom, to } of missing) {
      // No replay fills it: Firehose keeps what matched, and nothing did.
      gaps.push({ ...gap(platform, missingFrom, to, 'rule_missing'), repaired: false });
      if (to === null && missingFrom < covered) covered = missingFrom;
    }
    if (completeThrough === null || covered < completeThrough) completeThrough = covered;
  }
  // The latest ends stay, and with them every gap that is still open.
  const byEnd = gaps.toSorted((a, b) => endOf(a) - endOf(b));
  return { complete_through: completeThrough?.toISOString() ?? null, gaps: byEnd.slice(-gapsMax) };
}

function endOf({ to }: Coverage['gaps'][number]): number {
  return to === null ? Number.MAX_SAFE_INTEGER : Date.parse(to);
}

function gap(platform: Platform, from: Date, to: Date | null, reason: string): Coverage['gaps'][number] {
  const repaired = platform === 'firehose' && to !== null && to.getTime() - from.getTime() < replayedMs;
  return { platform, from: from.toISOString(), to: to?.toISOString() ?? null, reason, repaired };
}
