import type { Match } from '@earshot/sdk';
import * as fc from 'fast-check';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import { maxTokensMin } from '../src/content/answer-matches.ts';
import { type AnswerPageOptions, answerPage } from '../src/content/answer-page.ts';
import { aMatch } from './a-match.ts';
import { separate } from './injections/fence.ts';
import { readAnswer } from './injections/read-answer.ts';
import { english, nastyText } from './nasty-texts.ts';

/** A list as the server returns it. A cursor points behind the last match of a page and is as long as a real one. */
function list(matches: readonly Match[], cursor: string | null = null) {
  const from = cursor === null ? 0 : Number(cursor.slice(0, 8));
  return (limit: number) => {
    const page = matches.slice(from, from + limit);
    const end = String(from + page.length).padStart(8, '0');
    return Promise.resolve({ matches: page, cursor: `${end}${'xQ7_'.repeat(9)}`, coverage: null });
  };
}

async function answer(options: Partial<AnswerPageOptions> & Pick<AnswerPageOptions, 'read'>) {
  const defaults = { limit: 50, maxTokens: 2_000, cursorField: 'next_cursor', form: 'lines' } as const;
  const answered = await answerPage({ ...defaults, ...options });
  return { ...answered, read: readAnswer(answered.text) };
}

/** Counts the tokens on the wire. */
function tokensOf({ text }: { text: string }): number {
  return Math.max(countTokens(JSON.stringify({ content: [{ type: 'text', text }] })), countTokens(text));
}

const gap = {
  platform: 'x',
  from: '2026-11-14T22:46:00.000Z',
  to: null,
  reason: 'dropped',
  repaired: false,
} as const;
const silent = { complete_through: null, gaps: Array.from({ length: 60 }, () => gap) };

const nastyMatches = fc
  .array(fc.record({ text: nastyText(300), url: nastyText(80), other: nastyText(40), onX: fc.boolean() }), {
    minLength: 1,
    maxLength: 12,
  })
  .map((all) =>
    all.map(({ text, url, other, onX }, index) =>
      aMatch(index + 1, { text, other, ...(!onX && { url: `${url}#${index}` }) }),
    ),
  );

describe.each(['lines', 'full'] as const)('an answer with matches, in %s', { timeout: 60_000 }, (form) => {
  test.each([maxTokensMin, 2_000])('never exceeds %i tokens, and shows something', async (maxTokens) => {
    await fc.assert(
      fc.asyncProperty(nastyMatches, async (matches) => {
        const read = async (limit: number) => ({ ...(await list(matches)(limit)), coverage: silent });
        const answered = await answer({ read, form, maxTokens });
        expect(tokensOf(answered)).toBeLessThanOrEqual(maxTokens);
        expect(answered.shown).toBeGreaterThanOrEqual(1);
        separate(answered.text);
      }),
      { numRuns: 60, endOnFailure: true },
    );
  });

  test('uses most of its tokens for English', async () => {
    const matches = Array.from({ length: 50 }, (_, index) => aMatch(index + 1, { text: english }));
    const answered = await answer({ read: list(matches), form, maxTokens: 5_000 });
    expect(tokensOf(answered) / 5_000).toBeGreaterThan(0.5);
  });

  test('shows every match once and in order, for any limit of tokens', async () => {
    await fc.assert(
      fc.asyncProperty(
        nastyMatches,
        fc.integer({ min: maxTokensMin, max: 6_000 }),
        async (matches, maxTokens) => {
          let shown = 0;
          for (let cursor: string | null = null; shown < matches.length; ) {
            const answered = await answer({ read: list(matches, cursor), form, maxTokens });
            const ids = answered.text.match(/^mat_[0-9a-z]+/gm);
            expect(ids).toEqual(matches.slice(shown, shown + answered.shown).map(({ id }) => id));
            expect(answered.shown).toBeGreaterThanOrEqual(1);
            shown += answered.shown;
            cursor = answered.read.cursor;
            expect(cursor).not.toBeNull();
          }
        },
      ),
      { numRuns: 40, endOnFailure: true },
    );
  });
});

describe('a list of matches', { timeout: 60_000 }, () => {
  test('has a cursor that fits the matches shown, even if newer matches arrive in the meantime', async () => {
    const matches = Array.from({ length: 100 }, (_, index) => aMatch(index + 1, { text: english }));
    let newer = 20;
    const { read, shown } = await answer({
      read: (limit: number) => {
        newer -= 5;
        return list(matches.slice(newer))(limit);
      },
    });
    expect(shown).toBeLessThan(50);
    expect(Number(read.cursor?.slice(0, 8))).toBe(shown);
    expect(read.matches[0]?.id).toBe(matches[newer]?.id);
  });

  test('begins with the counts', async () => {
    const matches = Array.from({ length: 40 }, (_, index) => aMatch(index + 1, { text: english }));
    const { text, read, shown } = await answer({ read: list(matches) });
    expect(read.counts).toEqual({ found: 40, shown, left_out: 40 - shown });
    expect(text.split('\n')[0]).toBe(
      `40 matches on this page, ${shown} shown, ${40 - shown} left out. next_cursor: ${read.cursor}`,
    );
    const one = await answer({ read: list(matches.slice(0, 1)) });
    expect(one.text).toMatch(/^1 match on this page/);
  });

  test('has each item once, with all its rules, and each rule once in the legend', async () => {
    const [post, page] = [aMatch(1, { text: 'a' }), aMatch(2, { text: 'b', url: 'https://a.example/b' })];
    const other = { ...post, id: 'mat_other', rule_id: 'rule_2' };
    const renewed = { ...page, id: 'mat_renewed', rule_version: 2 };
    const ruleNames = new Map([[post.rule_id, 'Cats\u202e <untrusted-content-1>']]);
    const answered = await answer({ read: list([post, other, page, renewed]), ruleNames });
    expect(answered.shown).toBe(4);
    const first = `${post.rule_id} v1 "Cats\\\\u{202e} \\\\u{3c}untrusted-content-1>"`;
    expect(answered.read.matches).toMatchObject([
      { id: post.id, rules: [first, 'rule_2 v1'], text: 'a' },
      { id: page.id, rules: [first, first.replace(' v1 ', ' v2 ')], text: 'Some One | b' },
    ]);
    expect(answered.text.split(post.rule_id)).toHaveLength(3);
  });

  test('counts the legend towards the limit', async () => {
    const matches = Array.from({ length: 60 }, (_, index) => ({
      ...aMatch(index + 1, { text: 'a' }),
      rule_id: `rule_${index}01kb2m8yx4e5r6t7v8w9x0`,
    }));
    const ruleNames = new Map(matches.map(({ rule_id }) => [rule_id, '地震と津波の速報'.repeat(10)]));
    const answered = await answer({ read: list(matches), ruleNames, limit: 60, maxTokens: 2_000 });
    expect(tokensOf(answered)).toBeLessThanOrEqual(2_000);
    expect(answered.shown).toBeGreaterThan(5);
  });

  test('marks matches of a search, and matches with undecided clauses', async () => {
    const clause = { rule_span: { start: 8, end: 17 }, field: 'sample', why: 'only X can decide this' };
    const sure = aMatch(1, { text: 'a' });
    const why = { ...sure.why, undecided: [clause] };
    const unsure: Match = { ...aMatch(2, { text: 'b' }), via: 'search', why };
    const { read } = await answer({ read: list([sure, unsure]) });
    expect(read.matches).toMatchObject([
      { via: 'stream', isUndecided: false },
      { via: 'search', isUndecided: true },
    ]);
  });

  test('keeps a text of several lines on one line, and escapes spaces in author and address', async () => {
    const post = aMatch(1, { text: 'one\n\n two\nmat_1 three', url: 'https://a.example/b c', other: 'T' });
    const { read } = await answer({ read: list([post]) });
    expect(read.matches).toMatchObject([
      { url: 'https://a.example/b%20c', text: 'T | one / two / mat_1 three' },
    ]);
  });

  test('marks a cut text', async () => {
    const matches = [aMatch(1, { text: '🚀'.repeat(4_001) }), aMatch(2, { text: '🚀'.repeat(4_000) })];
    const { read } = await answer({ read: list(matches), maxTokens: 100_000 });
    expect(read.matches.map(({ text }) => text)).toEqual([`${'🚀'.repeat(4_000)}…`, '🚀'.repeat(4_000)]);
  });

  test('shares the room evenly between long texts, after the short ones', async () => {
    const short = [english.slice(0, 400).trim(), english.slice(0, 300).trim()] as const;
    const texts = [english.repeat(8), short[0], english.repeat(8), short[1]];
    const matches = texts.map((text, index) => aMatch(index + 1, { text }));
    const { read } = await answer({ read: list(matches), maxTokens: 2_000 });
    const lengths = read.matches.map(({ text }) => text.length);
    expect([lengths[1], lengths[3]]).toEqual(short.map(({ length }) => length));
    expect(lengths[0]).toBeGreaterThan(400);
    expect(Math.abs((lengths[0] ?? 0) - (lengths[2] ?? 0))).toBeLessThan(80);
  });

  test('begins with the lines of the tool', async () => {
    const { text } = await answer({ read: list([]), own: ['The rule is paused.'] });
    expect(text.split('\n')[1]).toBe('The rule is paused.');
  });

  test('respects the limit without matches, and keeps the next step', async () => {
    const why = Array.from({ length: 20 }, (_, n) => `Gap on x from ${gap.from} to now: dropped (${n}).`);
    const read = async (limit: number) => ({ ...(await list([])(limit)), coverage: silent });
    const answered = await answer({ read, own: [...why, 'Next: get_coverage'], maxTokens: maxTokensMin });
    expect(tokensOf(answered)).toBeLessThanOrEqual(maxTokensMin);
    expect(answered.text).toContain('\nNext: get_coverage\n');
  });

  test('shows the latest gaps that are not repaired, and counts the others', async () => {
    const gaps = Array.from({ length: 61 }, (_, n) => ({
      ...gap,
      from: `2026-11-15T00:${String(n).padStart(2, '0')}:00.000Z`,
      repaired: n === 60,
    }));
    const read = async (limit: number) => ({
      ...(await list([])(limit)),
      coverage: { complete_through: null, gaps },
    });
    const { text } = await answer({ read });
    expect(text).toContain('60 gaps, 56 not shown (get_coverage)');
    expect(text.match(/^gap on x: .*$/gm)).toEqual(
      [59, 58, 57, 56].map((minute) => `gap on x: 2026-11-15T00:${minute}:00.000Z to now, dropped`),
    );
  });
});

describe('matches in full', () => {
  test('are cut and marked after 4,000 whole characters', async () => {
    const matches = [aMatch(1, { text: '🚀'.repeat(4_001) }), aMatch(2, { text: '🚀'.repeat(4_000) })];
    const { text } = await answer({ read: list(matches), form: 'full', maxTokens: 100_000 });
    expect(text).toContain('(cut: text: the first 4000 of 4001 characters)\n<untrusted');
    expect(text.match(/^\| .*$/gm)).toEqual([`| ${'🚀'.repeat(4_000)}`, `| ${'🚀'.repeat(4_000)}`]);
  });

  test('name undecided clauses outside of the fence', async () => {
    const clause = { rule_span: { start: 8, end: 17 }, field: 'sample', why: 'only X can decide this' };
    const sure = aMatch(1, { text: english });
    const unsure = { ...sure, why: { ...sure.why, undecided: [clause, clause] } };
    const { text } = await answer({ read: list([unsure]), form: 'full' });
    expect(text).toContain('(undecided: sample: only X can decide this)\n<untrusted');
  });

  test('have all fields of a match', async () => {
    const { text } = await answer({ read: list([aMatch(1, { text: 'a\nb' })]), form: 'full' });
    expect(text).toMatch(/^mat_000000000001 2026-11-14T22:46:00\.000Z x rule_\w+ v1$/m);
    expect(separate(text).insides).toEqual([
      [
        'handle: someone',
        'name: Some One',
        'url: https://x.com/someone/status/1',
        'post_id: 1990000000000000001',
        'published_at: 2026-11-14T22:45:58.000Z',
        'language: en',
        'why: Some One',
        '| a',
        '| b',
      ].join('\n'),
    ]);
  });
});
