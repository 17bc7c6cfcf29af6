import type { Coverage, Platform } from '@earshot/contract';
import type { CoverageQuery, CoverageStore } from './coverage-store.sql.ts';
import { coverageOf, type PlatformCoverage } from './ledger.ts';

export type ReadCoverage = (
  query: Pick<CoverageQuery, 'accountId' | 'ruleId' | 'platform'>,
) => Promise<Coverage>;

const gapsMax = 100;
const dayMs = 24 * 3_600_000;

export interface ReadCoverageOptions {
  readonly store: CoverageStore;
  /** How long matches are kept. */
  readonly retentionDays: number;
  readonly nowMs: () => number;
}

/** The short form that lists of matches carry: only the gaps. */
export function createReadCoverage({ store, retentionDays, nowMs }: ReadCoverageOptions): ReadCoverage {
  return async (query) => {
    const now = nowMs();
    const from = new Date(now - retentionDays * dayMs);
    const ledger = await store.read({ ...query, from, to: new Date(now) });
    return toCoverage(coverageOf(ledger));
  };
}

export function toCoverage(covered: readonly PlatformCoverage[]): Coverage {
  const gaps = covered.flatMap(({ platform, timeline }) =>
    timeline
      .filter(({ state }) => state === 'gap' || state === 'repaired')
      .map(({ from, to, reason, state }) => ({
        platform,
        from: new Date(from).toISOString(),
        to: isoOrNull(to),
        reason: reason ?? '',
        repaired: state === 'repaired',
      })),
  );
  // Keeps the gaps that ended last, which includes every open gap.
  const byEnd = gaps.toSorted((a, b) => endOf(a) - endOf(b));
  return { complete_through: completeThroughOf(covered), gaps: byEnd.slice(-gapsMax) };
}

/** The time of the platform that is furthest behind. */
export function completeThroughOf(covered: readonly PlatformCoverage[]): string | null {
  const known = covered.flatMap(({ completeThrough }) => (completeThrough === null ? [] : [completeThrough]));
  return known.length === 0 ? null : new Date(Math.min(...known)).toISOString();
}

export function isoOrNull(time: number): string | null {
  return Number.isFinite(time) ? new Date(time).toISOString() : null;
}

function endOf({ to }: { platform: Platform; to: string | null }): number {
  return to === null ? Number.MAX_SAFE_INTEGER : Date.parse(to);
}
