import { lengthOf } from '@earshot/testkit';
import { describe, expect, test } from 'vitest';
import { type Figures, type Simulated, simulate } from '../../test/alert-simulation.ts';
import { baselineOf, bucketsPerHour, type Series } from './baseline.ts';
import { judge } from './detect.ts';
import { lowerTail, upperTail } from './negative-binomial.ts';

const seed = Number(process.env['SEED'] ?? 20_261_119);
const rules = lengthOf({ always: 5, nightly: 60 });
const sensitivities = lengthOf<readonly Simulated['sensitivity'][]>({
  always: ['medium'],
  nightly: ['low', 'medium', 'high'],
});
/** False alarms per rule and week, and the share of the events found within an hour at 20 or more matches per hour. */
const promised = {
  low: { falseSpikes: 0.1, found: 0.55 },
  medium: { falseSpikes: 0.5, found: 0.8 },
  high: { falseSpikes: 2, found: 0.8 },
} as const;
const falseDropsMax = 0.05;

const rates = [0.2, 2, 20, 200];
const kinds = [
  ['Poisson', false],
  ['bursty', true],
] as const;

function run(options: Pick<Simulated, 'perHour' | 'isBursty' | 'sensitivity'>, changed = {}): Figures {
  return simulate({ seed, rules, weeks: 8, ...options, ...changed });
}

const lines: string[] = [];
const note = (name: string, figures: Figures) =>
  lines.push(
    [name, ...Object.entries(figures).map(([key, value]) => `${key} ${value.toFixed(2)}`)].join('  '),
  );

describe.each(sensitivities)('the simulator at %s sensitivity', (sensitivity) => {
  test.each(kinds)(
    '%s arrivals: false alarms stay rare, and events are found within an hour',
    (kind, isBursty) => {
      for (const perHour of rates) {
        const figures = run({ perHour, isBursty, sensitivity });
        const name = `${sensitivity} ${kind} ${perHour}/h seed ${seed}`;
        note(name, figures);
        expect(figures.falseSpikes, `at ${name}`).toBeLessThanOrEqual(promised[sensitivity].falseSpikes);
        expect(figures.falseDrops, `at ${name}`).toBeLessThanOrEqual(falseDropsMax);
        if (perHour === 2 && sensitivity === 'medium')
          expect(figures.foundSilences, `at ${name}`).toBeGreaterThanOrEqual(0.7);
        if (perHour < 20) continue;
        expect(figures.found, `at ${name}`).toBeGreaterThanOrEqual(promised[sensitivity].found);
        expect(figures.foundSilences, `at ${name}`).toBeGreaterThanOrEqual(0.8);
      }
    },
  );
});

/*
 * At 2 matches per hour, an hour of an event at night has fewer than two items. At full length, the detector that knows the truth finds 69%
 * (Poisson) and 62% (bursty) with nearly half a false alarm per week, so 80% is out of reach.
 */
test.each(kinds)(
  '%s arrivals at 2 per hour: finds nearly what a detector finds that knows the truth',
  (kind, isBursty) => {
    const options = { perHour: 2, isBursty, sensitivity: 'medium' } as const;
    const [figures, best] = [run(options), run(options, { knowsTruth: true })];
    note(`medium ${kind} 2/h knowing the truth, seed ${seed}`, best);
    expect(figures.found / best.found).toBeGreaterThanOrEqual(0.7);
  },
);

test('without the coverage ledger, outages alarm as drops and their repairs as spikes', () => {
  const options = { perHour: 200, isBursty: false, sensitivity: 'medium' } as const;
  const control = run(options, { withExposure: false });
  note(`medium Poisson 200/h without exposure, seed ${seed}`, control);
  expect(control.falseSpikes).toBeGreaterThan(promised.medium.falseSpikes);
  expect(control.falseDrops).toBeGreaterThan(falseDropsMax);
});

test('prints the figures', () => {
  process.stdout.write(`${lines.join('\n')}\n`);
  expect(lines).not.toEqual([]);
});

/** Two weeks with ten matches an hour, then these periods, all covered unless they are null. */
function seriesOf(last: readonly (number | null)[]): { series: Series; at: number } {
  const weeks = Array.from({ length: 14 * 24 * bucketsPerHour }, (_, nth) => (nth % 2 === 0 ? 2 : 3));
  const all = [...weeks, ...last];
  const counts = all.map((count) => count ?? 0);
  const covered = all.map((count) => (count === null ? 0 : 1));
  return { series: { fromMs: 0, counts, covered }, at: all.length - 1 };
}

function judged(last: readonly (number | null)[], sensitivity: Simulated['sensitivity'] = 'medium') {
  const { series, at } = seriesOf(last);
  const baseline = baselineOf(series, 14 * 24 * bucketsPerHour);
  if (baseline === null) throw new Error('no baseline');
  return judge(series, at, baseline, sensitivity);
}

const silence = (hours: number) => Array<number>(hours * bucketsPerHour).fill(0);

describe('a judgement', () => {
  test('names the window, and what was expected', () => {
    const judgement = judged([2, 30, 30, 40]);
    expect(judgement?.spike).toMatchObject({ window: '1h', got: 102 });
    expect(judgement?.spike?.expected).toBeCloseTo(10, 0);
    expect(judgement?.spike?.p).toBeLessThan(1e-6);
    expect(judgement).toMatchObject({ drop: null, isCalm: false });
  });

  test('finds a burst of 15 minutes before the hour is unusual', () => {
    const series = Array<number>(bucketsPerHour - 1).fill(0);
    expect(judged([...series, 25])?.spike).toMatchObject({ window: '15m', got: 25 });
  });

  test('a drop needs a window in which enough is usual, and which is covered whole', () => {
    expect(judged(silence(1))?.drop).toBeNull();
    expect(judged(silence(6))?.drop).toMatchObject({ window: '6h', got: 0 });
    expect(judged([...silence(3), null, ...silence(3)])?.drop).toBeNull();
  });

  test('says nothing of a period that is not covered', () => {
    expect(judged([50, 50, 50, null])).toBeNull();
    expect(judged([null, null, null, 50])).toBeNull();
  });

  test('what a repair stored before its gap is covered does not count', () => {
    const { series, at } = seriesOf([2, 3, null, 2]);
    const repaired = {
      ...series,
      counts: Array.from(series.counts, (count, nth) => (nth === at - 1 ? 500 : count)),
    };
    const baseline = baselineOf(repaired, 14 * 24 * bucketsPerHour);
    expect(baseline && judge(repaired, at, baseline, 'high')).toMatchObject({ spike: null, isCalm: true });
  });

  test('a higher sensitivity finds what a lower one leaves out', () => {
    const small = [6, 6, 6, 6];
    expect(judged(small, 'low')?.spike).toBeNull();
    expect(judged(small, 'high')?.spike).toMatchObject({ got: 24 });
  });
});

describe('a baseline', () => {
  test('needs a day of coverage', () => {
    const { series } = seriesOf([]);
    expect(baselineOf(series, 24 * bucketsPerHour - 1)).toBeNull();
    expect(baselineOf(series, 24 * bucketsPerHour)).not.toBeNull();
    expect(baselineOf({ ...series, covered: [] }, 24 * bucketsPerHour)).toBeNull();
  });

  test('is not lowered by a gap', () => {
    const { series, at } = seriesOf([]);
    const counts = Array.from(series.counts, (count, nth) => (nth % 3 === 0 ? 0 : count));
    const covered = Array.from(series.covered, (share, nth) => (nth % 3 === 0 ? 0 : share));
    expect(baselineOf({ ...series, counts, covered }, at)?.perHour[5]).toBeCloseTo(10, 0);
    expect(baselineOf({ ...series, counts }, at)?.perHour[5]).toBeCloseTo(6.7, 0);
  });
});

test('a period that is not covered counts neither its time nor what a repair has stored for it', () => {
  const { series, at } = seriesOf([]);
  const counts = Array.from(series.counts, (count, nth) => (nth % 3 === 0 ? 500 : count));
  const covered = Array.from(series.covered, (share, nth) => (nth % 3 === 0 ? 0.1 : share));
  expect(baselineOf({ ...series, counts, covered }, at)?.perHour[5]).toBeCloseTo(10, 0);
});

test('an earlier spike does not make large numbers usual', () => {
  const counts = Array.from({ length: 28 * 24 * bucketsPerHour }, (_, nth) => {
    const usual = nth % 2 === 0 ? 2 : 3;
    return nth >= 1_000 && nth < 1_008 ? 20 * usual : usual;
  });
  const series = { fromMs: 0, counts, covered: counts.map(() => 1) };
  expect(baselineOf(series, counts.length)?.dispersion.hour).toBeLessThan(0.3);
});

test('a rule that gets items again is not silent, although a day was', () => {
  expect(judged([...silence(23), 2, 3, 2, 3])).toMatchObject({ drop: null, isActive: true });
  expect(judged(silence(24))).toMatchObject({ drop: { got: 0 }, isActive: false });
});

describe('the counts of the platform', () => {
  const counted = {
    fromMs: 0,
    // Ten an hour by day, two at night.
    counts: Array.from({ length: 7 * 24 }, (_, hour) => (hour % 24 < 12 ? 10 : 2)),
  };
  const days = (count: number, times: number): Series => {
    const length = count * 24 * bucketsPerHour;
    const counts = Array.from({ length }, (_, at) => (at % 96 < 48 ? 2.5 : 0.5) * times);
    return { fromMs: 0, counts, covered: counts.map(() => 1) };
  };

  test('replace the first day: a burst is found in the first hour', () => {
    const series = { fromMs: 0, counts: [3, 40, 40, 40], covered: [1, 1, 1, 1] };
    expect(baselineOf(series, 0)).toBeNull();
    const baseline = baselineOf(series, 0, counted);
    expect(baseline && judge(series, 3, baseline, 'medium')).toMatchObject({
      spike: { window: '1h', got: 123 },
    });
  });

  test('show the hours of the week, at the level of the rule', () => {
    const { perHour } = baselineOf(days(2, 0.5), 2 * 96, counted) ?? { perHour: [] };
    expect(perHour[6]).toBeCloseTo(5, 0);
    expect(perHour[18]).toBeCloseTo(1, 0);
  });

  test('are left out when a week is known, and if they are no week', () => {
    expect(baselineOf(days(8, 1), 7 * 96, counted)).toEqual(baselineOf(days(8, 1), 7 * 96));
    expect(baselineOf(days(1, 1), 0, { ...counted, counts: [1, 2] })).toBeNull();
  });
});

test('the tails are those of the distribution, added up term by term', () => {
  for (const [mean, dispersion] of [
    [0.3, 0.5],
    [4, 1 / 3],
    [60, 0.05],
  ] as const) {
    const size = 1 / dispersion;
    let [term, below] = [(size / (size + mean)) ** size, 0];
    for (let count = 0; count < 3 * mean + 5; count++) {
      expect(upperTail(count, mean, dispersion)).toBeCloseTo(1 - below, 9);
      below += term;
      expect(lowerTail(count, mean, dispersion)).toBeCloseTo(below, 9);
      term *= ((count + size) / (count + 1)) * (mean / (mean + size));
    }
  }
  // On the border of both expansions, where a rounding error would lead from one to the other for ever.
  expect(upperTail(55, 50, 0.12)).toBeCloseTo(0.36, 1);
  // Far into the tail, where one minus the rest would be zero.
  expect(upperTail(60, 4, 1e-9)).toBeGreaterThan(0);
  expect(upperTail(60, 4, 1e-9)).toBeLessThan(1e-40);
});
