import { expect, test } from 'vitest';
import { languages, type Platform } from '../../src/index.ts';
import { foundOnFirehose } from './found-firehose.ts';
import { foundOnX } from './found-x.ts';
import { type Outcome, outcomeOf } from './outcome.ts';
import { typicalOnFirehose } from './typical-firehose.ts';
import { typicalOnX } from './typical-x.ts';

interface Case {
  readonly platform: Platform;
  readonly wrote: string;
  readonly meant: string | null;
}

const cases: readonly Case[] = [
  ...[...foundOnX, ...typicalOnX].map(([wrote, meant]): Case => ({ platform: 'x', wrote, meant })),
  ...[...foundOnFirehose, ...typicalOnFirehose].map(
    ([wrote, meant]): Case => ({
      platform: 'firehose',
      wrote,
      meant,
    }),
  ),
];

test('of 300 rules as models write them, none is registered with another meaning', () => {
  const counts: Record<Outcome, number> = { right: 0, corrected: 0, refused: 0, wrong: 0 };
  const wrong: string[] = [];
  for (const { platform, wrote, meant } of cases) {
    const outcome = outcomeOf(platform, wrote, meant);
    counts[outcome] += 1;
    if (outcome === 'wrong') wrong.push(`${platform}: ${wrote}`);
  }
  const { right, corrected, refused } = counts;
  // oxlint-disable-next-line no-console -- the figures are what this test is for
  console.log(
    `${cases.length} rules: ${right} right at once, ${corrected} after following the advice once, ${refused} refused with advice`,
  );
  expect(wrong).toEqual([]);
  expect(cases.length).toBeGreaterThanOrEqual(300);
  expect(right + corrected).toBeGreaterThanOrEqual(150);
});

test('every refusal has a message, and every intended query is valid', () => {
  const silent = cases.filter(({ platform, wrote }) => {
    const { valid, diagnostics } = languages[platform].validate(wrote);
    return !valid && diagnostics.every(({ message }) => message === '');
  });
  const unsayable = cases.filter(
    ({ platform, meant }) => meant !== null && languages[platform].validate(meant).canonical === null,
  );
  expect({ silent, unsayable }).toEqual({ silent: [], unsayable: [] });
});
