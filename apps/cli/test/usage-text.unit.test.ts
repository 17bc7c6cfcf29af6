import { expect, test } from 'vitest';
import { usageText } from '../src/output/usage-text.ts';

const resources = { posts: 1, referenced_posts: 0, users: 1, pages: 0 };
const entry = (day: string, min: number, max: number) => ({
  day,
  platform: 'x' as const,
  matches: 2,
  resources,
  usd: { min, max },
});
const answer = {
  usage: [entry('2026-11-13', 1, 4), entry('2026-11-14', 0.5, 0.5)],
  total: { matches: 4, resources, usd: { min: 1.5, max: 4.5 } },
  prices_as_of: '2026-08-22',
};
const paint = (_: unknown, text: string) => text;

test('a terminal shows a bar per day, solid up to the minimum and light up to the maximum', () => {
  const text = usageText(answer, { paint, columns: 62 + 16, isTerminal: true });
  expect(text.split('\n')).toEqual([
    'DAY         PLATFORM  MATCHES  COST',
    '2026-11-13  x         2        $1.00–$4.00  ████░░░░░░░░░░░░',
    '2026-11-14  x         2        $0.50        ██',
    '',
    '4 matches, $1.50–$4.50, at the prices of 2026-08-22.',
  ]);
});

test('the cost of the judge has its own line', () => {
  const judged = { ...answer, judge: { calls: 1_200, usd: 0.021 } };
  const text = usageText(judged, { paint, columns: 80, isTerminal: false });
  expect(text).toMatch(/2026-08-22\.\nBesides, 1200 calls of the judge, \$0\.0210 at most\.$/);
});

test('bars fit the width, and are omitted without a terminal or room', () => {
  const longest = (columns: number, isTerminal = true) =>
    Math.max(
      ...usageText(answer, { paint, columns, isTerminal })
        .split('\n')
        .map((line) => line.length),
    );
  expect(longest(200)).toBeLessThan(100);
  expect(longest(80)).toBeLessThanOrEqual(80);
  expect(usageText(answer, { paint, columns: 60, isTerminal: true })).not.toMatch(/[█░]/);
  expect(usageText(answer, { paint, columns: 200, isTerminal: false })).not.toMatch(/[█░]/);
});

test('a rule has its name, and a deleted rule says so', () => {
  const of = (rule_id: string, rule_name: string | null) => ({
    platform: 'x' as const,
    matches: 2,
    resources,
    usd: { min: 1, max: 4 },
    rule_id,
    rule_name,
  });
  const text = usageText(
    { ...answer, usage: [of('rule_a', 'Outages'), of('rule_b', null)] },
    { paint, columns: 80, isTerminal: true },
  );
  expect(text.split('\n').slice(0, 3)).toEqual([
    'RULE              PLATFORM  MATCHES  COST',
    'Outages (rule_a)  x         2        $1.00–$4.00  ███░░░░░░░░░',
    'rule_b (deleted)  x         2        $1.00–$4.00  ███░░░░░░░░░',
  ]);
});

test('small amounts keep their digits, and a missing usage has a message', () => {
  const small = { ...answer, usage: [entry('2026-11-13', 0.005, 0.015)] };
  expect(usageText(small, { paint, columns: 80, isTerminal: false })).toContain('$0.0050–$0.0150');
  const none = { ...answer, usage: [], total: { matches: 0, resources, usd: { min: 0, max: 0 } } };
  expect(usageText(none, { paint, columns: 80, isTerminal: true })).toBe(
    'There are no matches in this time: 0 matches, $0.00, at the prices of 2026-08-22.',
  );
});
