import { expect, test } from 'vitest';
import { previewText } from '../src/output/preview-text.ts';

type Previewed = Parameters<typeof previewText>[1];

const screen = { columns: 100, paint: (_: unknown, text: string) => text };
const estimate = {
  matches_per_day: { average: 1_240, busiest: null, days: 7 },
  busiest_hour: null,
  usd_per_day: { min: 6.2, max: 18.6 },
  usd_per_month: { min: 186, max: 558 },
  basis: 'counts',
  bound: 'at_least',
  basis_note: 'By the platform’s counts of the last 7 days.',
  fee_usd: 0.005,
} as const;
const sample: Previewed['sample'] = {
  evaluated: 2_000,
  stored: 20_480,
  is_sampled: true,
  matched: 206,
  undecided: 3,
  matches: [
    {
      id: 'mat_1',
      rule_id: 'rule_1',
      created_at: '2026-11-14T22:46:00.000Z',
      platform: 'x',
      platform_post_id: '1',
      payload: {
        url: null,
        title: null,
        text: 'an aurora\u001b[31m tonight',
        author: null,
        published_at: null,
        language: null,
        raw: {},
      },
      why: { verdict: 'match', confidence: 'exact', evidence: [], undecided: [] },
    },
  ],
};

test('a preview shows bounds, cost, basis and changes', () => {
  const against = { added: 14, removed: 203, undecided: 0, is_estimate: true };
  const previewed = {
    translated_value: 'aurora',
    warnings: [],
    estimate,
    sample: { ...sample, matches: [] },
    against,
  };
  expect(previewText('x', previewed, { screen, days: 7, typed: 'aurora' }).split('\n')).toEqual([
    'aurora on x',
    '  a day         at least 1,240 matches',
    '  costs         at least $6.20 to $18.60 a day, $186.00 to $558.00 in 30 days',
    '  based on      counts: By the platform’s counts of the last 7 days. The estimate cost $0.005.',
    '  stored items  206 of 2,000 match (a random sample of about 20,480), 3 undecided, of the last 7 days',
    '  would change  about +14, −203 of the last 7 days',
  ]);
  const page = { ...previewed, estimate: { ...estimate, usd_per_day: { min: 6.2, max: 6.2 } } };
  expect(previewText('firehose', page, { screen, days: 7, typed: 'aurora' })).toContain(
    '  costs         at least $6.20 a day, ',
  );
  const exact = { ...estimate, bound: null, matches_per_day: { average: 1_240, busiest: 1_710, days: 7 } };
  expect(previewText('x', { ...previewed, estimate: exact }, { screen, days: 7, typed: 'aurora' })).toContain(
    '  a day         1,240 matches, 1,710 on the busiest of 7 days\n',
  );
});

test('a preview shows unknown figures, and escapes control characters of items', () => {
  const unknown = {
    ...estimate,
    matches_per_day: null,
    usd_per_day: null,
    usd_per_month: null,
    basis: 'unknown',
    bound: null,
    basis_note: 'Nothing is stored.',
    fee_usd: 0,
  } as const;
  const previewed = { translated_value: 'aurora', warnings: [], estimate: unknown, sample };
  const text = previewText('x', previewed, { screen, days: 2, typed: undefined });
  expect(text).toContain('  a day         unknown\n  based on      unknown: Nothing is stored.\n');
  expect(text).toContain('an aurora');
  expect(text).not.toContain('\u001b');
});
