import type { AlertRule, RangeSeries } from '../src/prometheus.ts';
import type { FiredFault, Part } from './faults.ts';

/** A period in which an alert was pending or firing. */
export interface AlertSpan {
  readonly name: string;
  readonly severity: string;
  readonly state: 'pending' | 'firing';
  /** The labels that distinguish it from other alerts of the same name. */
  readonly labels: Readonly<Record<string, string>>;
  readonly fromMs: number;
  readonly toMs: number;
}

/** The series `ALERTS`, read every `stepSeconds`. */
export function spansOf(series: readonly RangeSeries[], stepSeconds: number): AlertSpan[] {
  return series
    .flatMap(({ metric, values }) => {
      const { __name__: _, alertname: name = '', alertstate, severity = '', job: _job, ...labels } = metric;
      const state: AlertSpan['state'] = alertstate === 'firing' ? 'firing' : 'pending';
      const spans: AlertSpan[] = [];
      for (const [second] of values) {
        const atMs = second * 1_000;
        const last = spans.at(-1);
        const continues = last !== undefined && atMs - last.toMs <= stepSeconds * 1_000;
        const fromMs = continues ? last.fromMs : atMs;
        spans.splice(continues ? -1 : spans.length, 1, { name, severity, state, labels, fromMs, toMs: atMs });
      }
      return spans;
    })
    .toSorted((a, b) => a.fromMs - b.fromMs);
}

/** One outage of such a part that has lasted for so long, and then for the alert's `for`. */
interface Lasting {
  readonly of: readonly Part[];
  readonly seconds: number;
}

/** What callers and receivers observed: for alerts about a share of late or failed observations. */
export type Kind = 'matches' | 'webhooks' | 'requests';

/** In each of the last windows, more than this share of the observations were late or failed. */
interface Share {
  readonly kind: Kind;
  readonly share: number;
  readonly windowsSeconds: readonly number[];
}

export interface Observation {
  readonly atMs: number;
  /** Late, or failed. */
  readonly isBad: boolean;
}

const late = (kind: Kind): readonly Share[] => [
  { kind, share: 0.144, windowsSeconds: [3_600, 300] },
  { kind, share: 0.06, windowsSeconds: [21_600, 1_800] },
];

/**
 * Prometheus scrapes counters every 10 s, and misses what a killed node has counted since: its share may be higher than
 * the real one.
 */
const shareSeen = 0.75;

/**
 * When a critical alert is true: we caused an outage that it must report, or it reports a share of late or failed
 * observations that is real. An alert that is not listed here reports what no fault of the soak causes, so it is always false.
 */
export const truths: Readonly<Record<string, ReadonlyArray<Lasting | Share>>> = {
  EarshotDown: [{ of: ['all nodes'], seconds: 0 }],
  DatabaseUnreachable: [{ of: ['database'], seconds: 0 }],
  SourceDisconnected: [
    { of: ['database'], seconds: 60 },
    { of: ['x', 'firehose', 'bluesky'], seconds: 300 },
  ],
  RequestsFailing: [{ kind: 'requests', share: 0.01, windowsSeconds: [300] }],
  MatchesLate: [{ of: ['database'], seconds: 120 }, ...late('matches')],
  WebhooksLate: [{ of: ['database'], seconds: 120 }, ...late('webhooks')],
};

/** Scrapes and evaluations run every 10 s: an alert may start to fire that long after the outage has ended. */
const seenWithinMs = 20_000;

export interface Evidence {
  readonly rules: readonly AlertRule[];
  readonly faults: readonly FiredFault[];
  readonly observed: Readonly<Record<Kind, readonly Observation[]>>;
}

/** Whether our faults or the observations from outside explain this critical alert. */
export function isTrue({ name, fromMs }: AlertSpan, { rules, faults, observed }: Evidence): boolean {
  const forMs = (rules.find((rule) => rule.name === name)?.forSeconds ?? 0) * 1_000;
  return (truths[name] ?? []).some((truth) => {
    if ('share' in truth)
      return truth.windowsSeconds.every(
        (seconds) =>
          badShare(observed[truth.kind], fromMs - seconds * 1_000, fromMs) > truth.share * shareSeen,
      );
    const neededMs = truth.seconds * 1_000 + forMs;
    return faults
      .filter(({ takes }) => takes.some((part) => truth.of.includes(part)))
      .some(
        (one) => one.toMs + seenWithinMs >= fromMs && Math.min(one.toMs, fromMs) - one.fromMs >= neededMs,
      );
  });
}

function badShare(observations: readonly Observation[], sinceMs: number, untilMs: number): number {
  const within = observations.filter(({ atMs }) => atMs > sinceMs && atMs <= untilMs);
  return within.length === 0 ? 0 : within.filter(({ isBad }) => isBad).length / within.length;
}
