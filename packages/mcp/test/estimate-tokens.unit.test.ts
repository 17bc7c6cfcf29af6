import * as fc from 'fast-check';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import { commonWords } from '../src/content/common-words.ts';
import { cheapCharacters, createEstimateTokens } from '../src/content/estimate-tokens.ts';
import { mergedLetters } from '../src/content/merged-letters.ts';
import { english, nastyText } from './nasty-texts.ts';

const estimate = createEstimateTokens();
const words = commonWords.trim().split(/\s+/);
const isOneToken = (text: string): boolean => countTokens(text) === 1;
const withCapital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

describe('the estimate of tokens', { timeout: 60_000 }, () => {
  test('never is less than the tokenizer counts', () => {
    fc.assert(
      fc.property(nastyText(60), (text) => {
        expect(estimate(text)).toBeGreaterThanOrEqual(countTokens(text));
        const written = JSON.stringify(text);
        expect(estimate(written)).toBeGreaterThanOrEqual(countTokens(written));
      }),
      { numRuns: 3_000 },
    );
  });

  test('never is less for the characters that it counts lower than their bytes', () => {
    const tooLow: string[] = [];
    for (const [from, to] of cheapCharacters) {
      for (let code = from; code <= to; code += 1) {
        const character = String.fromCodePoint(code);
        if (estimate(character) < countTokens(character)) tooLow.push(code.toString(16));
      }
    }
    expect(tooLow).toEqual([]);
  });

  test('rests on words and letters that the tokenizer has', () => {
    const merged = mergedLetters.trim().split(/\s+/);
    const letters = merged.flatMap(([a, b, ...thirds]) => [`${a}${b}`, ...thirds.map((c) => `${a}${b}${c}`)]);
    expect(words.length).toBeGreaterThan(3_000);
    expect(letters.length).toBeGreaterThan(4_000);
    expect(words.filter((word) => !isOneToken(` ${word}`) || !isOneToken(` ${withCapital(word)}`))).toEqual(
      [],
    );
    expect(letters.filter((pair) => !isOneToken(pair))).toEqual([]);
  });

  test('is no more than twice too high for English', () => {
    expect(countTokens(english) / estimate(english)).toBeGreaterThan(0.55);
  });
});
