import { describe, expect, test } from 'vitest';
import { applyFix, languages, type Platform } from '../../src/index.ts';
import { foundOnFirehose } from './found-firehose.ts';
import { foundOnX } from './found-x.ts';
import { outcomeOf } from './outcome.ts';
import { typicalOnFirehose } from './typical-firehose.ts';
import { typicalOnX } from './typical-x.ts';
import { asWrittenOnFirehose, mistakesOnFirehose } from './variants-firehose.ts';
import { asWrittenOnX, mistakesOnX } from './variants-x.ts';

type Case = readonly [wrote: string, meant: string | null];

const pairs = (lines: readonly string[]) =>
  lines.map((line): Case => {
    const [wrote = '', meant = ''] = line.split(' → ');
    return [wrote, meant === '-' ? null : meant];
  });

const corpora = [
  ['x', asWrittenOnX, pairs(mistakesOnX), [...foundOnX, ...typicalOnX]],
  ['firehose', asWrittenOnFirehose, pairs(mistakesOnFirehose), [...foundOnFirehose, ...typicalOnFirehose]],
] as const;

describe.each(corpora)('on %s', (platform: Platform, asWritten, mistakes, others) => {
  test('a query that means what its words say is registered as written', () => {
    const refused = asWritten.filter((text) => !languages[platform].validate(text).valid);
    expect(refused).toEqual([]);
  });

  test('a mistake is refused or corrected as meant', () => {
    const unsayable = mistakes.filter(
      ([, meant]) => meant !== null && !languages[platform].validate(meant).valid,
    );
    const outcomes = mistakes.map(([wrote, meant]) => [wrote, outcomeOf(platform, wrote, meant)]);
    expect(unsayable).toEqual([]);
    expect(outcomes.filter(([, outcome]) => outcome === 'wrong' || outcome === 'right')).toEqual([]);
  });

  test('a certain fix that makes a query valid gives it the intended meaning', () => {
    const language = languages[platform];
    const wrong = [...mistakes, ...others].flatMap(([wrote, meant]) => {
      const asMeant = meant === null ? null : language.validate(meant).canonical;
      const { diagnostics, valid } = language.validate(wrote);
      if (valid) return [];
      return diagnostics
        .flatMap(({ fixes }) => fixes.filter(({ certainty }) => certainty === 'certain'))
        .map((fix) => applyFix(wrote, fix))
        .filter((text) => {
          const judged = language.validate(text);
          return judged.valid && judged.canonical !== asMeant;
        })
        .map((text) => [wrote, text, meant]);
    });
    expect(wrong).toEqual([]);
  });
});
