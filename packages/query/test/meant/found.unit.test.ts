import { describe, expect, test } from 'vitest';
import { languages, type Platform } from '../../src/index.ts';
import { foundOnFirehose } from './found-firehose.ts';
import { foundOnX } from './found-x.ts';
import { outcomeOf } from './outcome.ts';

describe.each([
  ['x', foundOnX],
  ['firehose', foundOnFirehose],
] as const)('former mistakes on %s', (platform: Platform, rows) => {
  test.each(rows)('%s means %s: %s, %s', (wrote, meant, outcome, code) => {
    const { diagnostics } = languages[platform].validate(wrote);
    if (meant !== null) expect(languages[platform].validate(meant).canonical).not.toBeNull();
    expect(outcomeOf(platform, wrote, meant)).toBe(outcome);
    expect(diagnostics.map((found) => found.code)).toEqual(code === '' ? [] : expect.arrayContaining([code]));
  });
});

test('never offers quoting for an unknown operator', () => {
  const rules = ['acme foo:bar', 'acme -foo:bar', 'acme exclude:everything', 'foo:bar (acme OR ice)'];
  for (const platform of ['x', 'firehose'] as const)
    for (const rule of rules) {
      const fixes = languages[platform].validate(rule).diagnostics.flatMap((found) => found.fixes);
      expect(fixes.filter(({ edits }) => edits.some(({ text }) => /"\w+[: ]\w+"/.test(text)))).toEqual([]);
    }
});
