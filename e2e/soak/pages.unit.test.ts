import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { FiredFault, Part } from './faults.ts';
import { type AlertSpan, isTrue, type Observation, spansOf, truths } from './pages.ts';

const second = 1_000;
const outage = (part: Part, from: number, to: number): FiredFault => ({
  name: `no ${part}`,
  takes: [part],
  fromMs: from * second,
  toMs: to * second,
});
const page = (name: string, from: number): AlertSpan => ({
  name,
  severity: 'page',
  state: 'firing',
  labels: {},
  fromMs: from * second,
  toMs: from * second + 60_000,
});
const nothingSeen = { matches: [], webhooks: [], requests: [] };
const isTrueAfter = (span: AlertSpan, faults: readonly FiredFault[], forSeconds = 30) =>
  isTrue(span, {
    rules: [{ name: span.name, severity: 'page', forSeconds }],
    faults,
    observed: nothingSeen,
  });

test('a page is true when its part was away for as long as the alert promises, and false before', () => {
  expect(isTrueAfter(page('MatchesLate', 250), [outage('database', 100, 300)])).toBe(true);
  expect(isTrueAfter(page('MatchesLate', 249), [outage('database', 100, 300)])).toBe(false);
  // The `for` counts as it was evaluated.
  expect(isTrueAfter(page('MatchesLate', 249), [outage('database', 100, 300)], 10)).toBe(true);
  expect(isTrueAfter(page('EarshotDown', 160), [outage('all nodes', 100, 160)], 60)).toBe(true);
  expect(isTrueAfter(page('EarshotDown', 160), [outage('all nodes', 101, 200)], 60)).toBe(false);
});

test('a long outage of another part, or one that is over, makes no page true', () => {
  expect(isTrueAfter(page('MatchesLate', 900), [outage('a node', 100, 900)])).toBe(false);
  expect(isTrueAfter(page('MatchesLate', 900), [outage('database', 100, 800)])).toBe(false);
  // Two short ones are not a long one.
  const halves = [outage('database', 100, 200), outage('database', 200, 300)];
  expect(isTrueAfter(page('MatchesLate', 300), halves)).toBe(false);
  expect(isTrueAfter(page('EventLogGap', 300), [outage('database', 0, 300)], 0)).toBe(false);
});

test('a page on a share is true when that share of what was seen in every window was bad', () => {
  /** One a second for an hour, so many of each hundred bad. */
  const seen = (bad: number): Observation[] =>
    Array.from({ length: 3_600 }, (_, n) => ({ atMs: n * second, isBad: n % 100 < bad }));
  const isTrueOf = (matches: readonly Observation[], name = 'MatchesLate') =>
    isTrue(page(name, 3_600), { rules: [], faults: [], observed: { ...nothingSeen, matches } });
  expect(isTrueOf(seen(15))).toBe(true);
  expect(isTrueOf(seen(6))).toBe(true);
  expect(isTrueOf(seen(4))).toBe(false);
  expect(isTrueOf([])).toBe(false);
  expect(isTrueOf(seen(15), 'WebhooksLate')).toBe(false);
  // Half of the first half hour, and none since.
  expect(isTrueOf(seen(50).map((one, n) => ({ ...one, isBad: one.isBad && n < 1_800 })))).toBe(false);
});

test('whatever makes a page true belongs to an alert that pages', () => {
  const alerts = readFileSync(new URL('../../deploy/alerts.yaml', import.meta.url), 'utf8');
  const pages = alerts
    .split('- alert: ')
    .slice(1)
    .filter((alert) => alert.includes('severity: page'))
    .map((alert) => alert.split('\n', 1)[0]);
  expect(pages).toEqual(expect.arrayContaining(Object.keys(truths)));
});

test('an alert that comes back is another one, and each state counts for itself', () => {
  const metric = {
    __name__: 'ALERTS',
    alertname: 'ReviewNeeded',
    severity: 'ticket',
    job: 'earshot',
    instance: 'a',
  };
  const values = [10, 20, 30, 70, 80].map((at) => [at, '1'] as const);
  const spans = spansOf([{ metric: { ...metric, alertstate: 'firing' }, values }], 10);
  expect(spans).toEqual([
    {
      name: 'ReviewNeeded',
      severity: 'ticket',
      state: 'firing',
      labels: { instance: 'a' },
      fromMs: 10_000,
      toMs: 30_000,
    },
    {
      name: 'ReviewNeeded',
      severity: 'ticket',
      state: 'firing',
      labels: { instance: 'a' },
      fromMs: 70_000,
      toMs: 80_000,
    },
  ]);
  expect(spansOf([{ metric: { ...metric, alertstate: 'pending' }, values: [[5, '1']] }], 10)).toMatchObject([
    { state: 'pending', fromMs: 5_000, toMs: 5_000 },
  ]);
});
