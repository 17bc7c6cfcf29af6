import type { AlertSensitivity } from '@earshot/contract';
import { type Baseline, bucketsPerHour, type Series, sumOf } from './baseline.ts';
import { lowerTail, upperTail } from './negative-binomial.ts';

export type WindowName = '15m' | '1h' | '6h' | '24h';

/** Why a window is unusual. */
export interface Evidence {
  readonly window: WindowName;
  readonly expected: number;
  readonly got: number;
  /** The probability of such a window, or a more unusual one, if nothing has changed. */
  readonly p: number;
}

export interface Judgement {
  readonly spike: Evidence | null;
  readonly drop: Evidence | null;
  /** The last hour ends a spike. */
  readonly isCalm: boolean;
  /** The last hour ends a drop. */
  readonly isActive: boolean;
}

interface Limits {
  /** The largest probability of a spike. */
  readonly p: { readonly '15m': number; readonly '1h': number };
  readonly matchesMin: number;
  readonly timesUsualMin: number;
  /** Drops are judged if at least so many matches are usual in the window. */
  readonly dropExpectedMin: number;
  readonly dropP: number;
}

const limits: Readonly<Record<AlertSensitivity, Limits>> = {
  low: { p: { '15m': 1e-5, '1h': 1e-4 }, matchesMin: 10, timesUsualMin: 3, dropExpectedMin: 40, dropP: 1e-6 },
  medium: {
    p: { '15m': 3e-4, '1h': 2e-3 },
    matchesMin: 4,
    timesUsualMin: 3,
    dropExpectedMin: 20,
    dropP: 1e-5,
  },
  high: { p: { '15m': 1e-3, '1h': 1e-2 }, matchesMin: 3, timesUsualMin: 2, dropExpectedMin: 10, dropP: 1e-4 },
};

const lengths: Readonly<Record<WindowName, number>> = {
  '15m': 1,
  '1h': bucketsPerHour,
  '6h': 6 * bucketsPerHour,
  '24h': 24 * bucketsPerHour,
};
/** Of a window that shows a spike; one that shows a drop is covered whole. */
const spikeCoveredMin = 0.5;
const dropCoveredMin = 0.98;
/** A rule that is merely quieter than usual has not fallen silent. */
const dropShareMax = 0.1;
const calmBelowTimes = 1.5;
const activeP = 0.05;

/** Judges the windows that end with the period `at`. Null if the coverage is too low to say anything. */
export function judge(
  series: Series,
  at: number,
  baseline: Baseline,
  sensitivity: AlertSensitivity,
): Judgement | null {
  const own = limits[sensitivity];
  const sums = (window: WindowName) => {
    const length = lengths[window];
    const sum = sumOf(series, baseline, at - length + 1, length);
    return { ...sum, share: sum.covered / length };
  };
  const hour = sums('1h');
  if ((series.covered[at] ?? 0) < spikeCoveredMin || hour.share < spikeCoveredMin) return null;
  const spikes = (['1h', '15m'] as const).flatMap((window): Evidence[] => {
    const { count: got, expected, uncertainty } = window === '1h' ? hour : sums(window);
    if (hour.count < own.matchesMin || got < own.matchesMin || got < own.timesUsualMin * expected) return [];
    const { quarter, hour: hourly } = baseline.dispersion;
    const p = upperTail(got, expected, (window === '1h' ? hourly : quarter) + uncertainty);
    return p < own.p[window] ? [{ window, expected, got, p }] : [];
  });
  const isActive =
    hour.count > 0 &&
    lowerTail(hour.count, hour.expected, baseline.dispersion.hour + hour.uncertainty) > activeP;
  // A long window may still be empty when items arrive again. Nights look like a drop until a week is known.
  const dropWindows = baseline.isSeasonal ? (['1h', '6h', '24h'] as const) : (['24h'] as const);
  const drops = (isActive ? [] : dropWindows).flatMap((window): Evidence[] => {
    const { count: got, expected, share, uncertainty } = window === '1h' ? hour : sums(window);
    if (expected < own.dropExpectedMin || share < dropCoveredMin || got > dropShareMax * expected) return [];
    const { hour: hourly, sixHours } = baseline.dispersion;
    const p = lowerTail(got, expected, (window === '1h' ? hourly : sixHours) + uncertainty);
    return p < own.dropP ? [{ window, expected, got, p }] : [];
  });
  return {
    spike: spikes[0] ?? null,
    drop: drops[0] ?? null,
    isCalm: hour.count < own.matchesMin || hour.count < calmBelowTimes * hour.expected,
    isActive,
  };
}
