import type { Match } from '@earshot/sdk';
import { describe, expect, test } from 'vitest';
import { answerMatches } from '../src/content/answer-matches.ts';
import { newNonce } from '../src/content/fence.ts';
import { aMatch } from './a-match.ts';
import { markupIn, separate, unseenIn } from './injections/fence.ts';
import { harmless, injections } from './injections/index.ts';

const seen = newNonce();
const corpus = injections(seen);

const forms = ['lines', 'full'] as const;
type Form = (typeof forms)[number];

function answer(matches: readonly Match[], form: Form, maxTokens = 2_000_000) {
  const page = { matches: [...matches], cursor: 'a-cursor', coverage: null };
  return answerMatches({ ...page, form, maxTokens, cursorField: 'next_cursor', nonce: newNonce() });
}

/** Matches of different items, with the same text in every untrusted field. */
const everywhere = (index: number, words: string): Match[] => [
  aMatch(index, { text: words, other: words }),
  aMatch(index + 1, { text: words, other: words, url: `${words}${index}` }),
  aMatch(index + 2, { text: null, other: words, url: `https://pages.example/?q=${words}${index}` }),
];

describe.each(forms)('the injection texts, in %s', { timeout: 60_000 }, (form) => {
  test('are at least 200 different texts', () => {
    expect(new Set(corpus.map(({ text }) => text)).size).toBeGreaterThanOrEqual(200);
  });

  test.each(corpus)('%# stay within their fence: $family', ({ text }) => {
    const hostile = answer(everywhere(1, text), form);
    const separated = separate(hostile.text);
    const twin = separate(answer(everywhere(1, harmless(text)), form).text);
    expect(new Set([separated.nonce, twin.nonce, seen]).size).toBe(3);
    expect(separated.insides).toHaveLength(3);
    expect(separated.outside).toBe(twin.outside);
    expect(unseenIn(hostile.text)).toBeUndefined();
    expect(separated.insides.filter(markupIn)).toEqual([]);
  });

  test('stay within their fences if all are in one answer', () => {
    const all = corpus.flatMap(({ text }, index) => everywhere(3 * index + 1, text));
    const twins = corpus.flatMap(({ text }, index) => everywhere(3 * index + 1, harmless(text)));
    const hostile = answer(all, form);
    expect(hostile.shown).toBe(3 * corpus.length);
    expect(separate(hostile.text).outside).toBe(separate(answer(twins, form).text).outside);
    expect(unseenIn(hostile.text)).toBeUndefined();
  });

  test.each([1_000, 2_000, 8_000])('stay within their fences in an answer of %i tokens', (maxTokens) => {
    for (const { text } of corpus) {
      const hostile = answer(everywhere(1, text), form, maxTokens);
      expect(hostile.shown).toBeGreaterThanOrEqual(1);
      expect(separate(hostile.text).insides).toHaveLength(hostile.shown);
    }
  });
});

describe('newNonce', () => {
  test('returns 128 random bits', () => {
    const nonces = Array.from({ length: 1_000 }, newNonce);
    expect(new Set(nonces).size).toBe(1_000);
    expect(nonces.filter((nonce) => !/^[0-9]{39}$/.test(nonce))).toEqual([]);
    expect(nonces.some((nonce) => BigInt(nonce) >> 127n === 1n)).toBe(true);
  });
});
