import type { Match } from '@earshot/sdk';
import * as fc from 'fast-check';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import { maxTokensMin } from '../src/content/answer-matches.ts';
import { type AnswerPageOptions, answerPage } from '../src/content/answer-page.ts';
import { aMatch } from './a-match.ts';
import { separate } from './injections/fence.ts';
import { english, nastyText } from './nasty-texts.ts';

interface Shown {
  readonly counts: { found: number; shown: number; left_out: number; not_expanded?: number };
  readonly next_cursor: string | null;
  readonly coverage: { gaps: unknown[]; gaps_left_out?: number } | null;
  readonly matches: Array<{
    match_id: string;
    cut?: string[];
    undecided?: string[];
    content: { text: string | null };
  }>;
}

/** A server's list: a cursor is the place behind the last match of a page. As long as real cursors are. */
function list(matches: readonly Match[], cursor: string | null = null) {
  const from = cursor === null ? 0 : Number(cursor.slice(0, 8));
  return (limit: number) => {
    const page = matches.slice(from, from + limit);
    const end = String(from + page.length).padStart(8, '0');
    return Promise.resolve({ matches: page, cursor: `${end}${'xQ7_'.repeat(9)}`, coverage: null });
  };
}

async function answer(options: Partial<AnswerPageOptions> & Pick<AnswerPageOptions, 'read'>) {
  const defaults = { limit: 50, maxTokens: 2_000, cursorField: 'next_cursor' } as const;
  const answered = await answerPage({ ...defaults, ...options });
  return { ...answered, structured: answered.structuredContent as unknown as Shown };
}

/** As it goes over the wire. */
function tokensOf({ text, structuredContent }: { text: string; structuredContent: unknown }): number {
  const wire = countTokens(JSON.stringify({ content: [{ type: 'text', text }], structuredContent }));
  const apart = countTokens(text) + countTokens(JSON.stringify(structuredContent));
  return Math.max(wire, apart);
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
    all.map(({ text, url, other, onX }, index) => aMatch(index + 1, { text, other, ...(!onX && { url }) })),
  );

describe('an answer with matches', { timeout: 60_000 }, () => {
  test.each([maxTokensMin, 2_000])('never exceeds %i tokens, and shows something', async (maxTokens) => {
    await fc.assert(
      fc.asyncProperty(nastyMatches, async (matches) => {
        const read = async (limit: number) => ({ ...(await list(matches)(limit)), coverage: silent });
        const answered = await answer({ read, maxTokens });
        expect(tokensOf(answered)).toBeLessThanOrEqual(maxTokens);
        expect(answered.shown).toBeGreaterThanOrEqual(1);
        separate(answered);
      }),
      { numRuns: 60, endOnFailure: true },
    );
  });

  test('uses most of its tokens for English', async () => {
    const matches = Array.from({ length: 50 }, (_, index) => aMatch(index + 1, { text: english }));
    const answered = await answer({ read: list(matches), maxTokens: 5_000 });
    expect(answered.shown).toBeLessThan(50);
    expect(tokensOf(answered) / 5_000).toBeGreaterThan(0.6);
  });

  test('leads through everything, once and in order, whatever the tokens allow', async () => {
    await fc.assert(
      fc.asyncProperty(
        nastyMatches,
        fc.integer({ min: maxTokensMin, max: 6_000 }),
        async (matches, maxTokens) => {
          const ids: string[] = [];
          for (let cursor: string | null = null; ids.length < matches.length; ) {
            const { structured } = await answer({ read: list(matches, cursor), maxTokens });
            ids.push(...structured.matches.map(({ match_id: id }) => id));
            cursor = structured.next_cursor;
            expect(structured.matches).not.toEqual([]);
            expect(cursor).not.toBeNull();
          }
          expect(ids).toEqual(matches.map(({ id }) => id));
        },
      ),
      { numRuns: 40, endOnFailure: true },
    );
  });

  test('has a cursor that fits what it shows, also when newer matches come in between', async () => {
    const matches = Array.from({ length: 60 }, (_, index) => aMatch(index + 1, { text: english }));
    let newer = 20;
    const read = (limit: number) => {
      newer -= 5;
      return list(matches.slice(newer))(limit);
    };
    const { structured, shown } = await answer({ read });
    expect(Number(structured.next_cursor?.slice(0, 8))).toBe(shown);
    expect(structured.matches[0]?.match_id).toBe(matches[newer]?.id);
  });

  test('begins with the counts', async () => {
    const matches = Array.from({ length: 40 }, (_, index) => aMatch(index + 1, { text: english }));
    const { structured, text, shown } = await answer({ read: list(matches) });
    expect(Object.keys(structured)[0]).toBe('counts');
    expect(structured.counts).toEqual({ found: 40, shown, left_out: 40 - shown });
    expect(text.split('\n')[0]).toBe(
      `40 matches on this page, ${shown} shown, ${40 - shown} left out. next_cursor: ${structured.next_cursor}`,
    );
  });

  test('cuts a text at 4,000 characters, never within one, and says so', async () => {
    const matches = [aMatch(1, { text: '🚀'.repeat(4_001) }), aMatch(2, { text: '🚀'.repeat(4_000) })];
    const { structured, text } = await answer({ read: list(matches), maxTokens: 100_000 });
    expect(structured.matches.map(({ cut }) => cut)).toEqual([
      ['text: the first 4000 of 4001 characters'],
      undefined,
    ]);
    expect(structured.matches.map(({ content }) => content.text)).toEqual([
      '🚀'.repeat(4_000),
      '🚀'.repeat(4_000),
    ]);
    expect(text).toContain('(cut: text: the first 4000 of 4001 characters)\n<untrusted');
  });

  test('says which clauses of the rule the item does not decide, outside of what strangers wrote', async () => {
    const clause = { rule_span: { start: 8, end: 17 }, field: 'sample', why: 'only X can decide this' };
    const sure = aMatch(1, { text: english });
    const unsure = { ...sure, why: { ...sure.why, undecided: [clause, clause] } };
    const { structured, text } = await answer({ read: list([unsure, aMatch(2, { text: english })]) });
    expect(structured.matches.map(({ undecided }) => undecided)).toEqual([
      ['sample: only X can decide this'],
      undefined,
    ]);
    expect(text).toContain('(undecided: sample: only X can decide this)\n<untrusted');
  });

  test('shares what there is evenly: a long text does not take from short ones', async () => {
    const texts = [english.repeat(8), english.slice(0, 400), english.repeat(8), english.slice(0, 300)];
    const matches = texts.map((text, index) => aMatch(index + 1, { text }));
    const { structured } = await answer({ read: list(matches), maxTokens: 5_000 });
    const lengths = structured.matches.map(({ content }) => content.text?.length ?? 0);
    expect([lengths[1], lengths[3]]).toEqual([400, 300]);
    expect(lengths[0]).toBeGreaterThan(400);
    expect(Math.abs((lengths[0] ?? 0) - (lengths[2] ?? 0))).toBeLessThan(80);
  });

  test('gives those to be expanded their whole text first', async () => {
    const texts = [english.repeat(6), english.repeat(5), english.repeat(6)];
    const matches = texts.map((text, index) => aMatch(index + 1, { text }));
    const wanted = matches[1]?.id ?? '';
    const { structured } = await answer({ read: list(matches), maxTokens: 4_500, expand: [wanted, 'mat_0'] });
    expect(structured.matches[1]?.content.text).toBe(english.repeat(5));
    expect(structured.matches[0]?.content.text?.length).toBeLessThan(english.length * 2);
    expect(structured.counts.not_expanded).toBe(1);
  });

  test('says the tool’s own words first, and counts them', async () => {
    const own = { fields: { nothing: { why: ['The rule is paused.'] } }, lines: ['The rule is paused.'] };
    const { structuredContent, text } = await answer({ read: list([]), own });
    expect(structuredContent).toMatchObject({ ...own.fields, matches: [] });
    expect(text.split('\n')[1]).toBe('The rule is paused.');
  });

  test('keeps to its tokens without matches, too, and says at last what to do next', async () => {
    const why = Array.from(
      { length: 8 },
      (_, n) => `Not heard on x from ${gap.from} to now: dropped (${n}).`,
    );
    const own = { fields: { nothing: { why } }, lines: [...why, 'Next: get_coverage'] };
    const read = async (limit: number) => ({ ...(await list([])(limit)), coverage: silent });
    const answered = await answer({ read, own, maxTokens: maxTokensMin });
    expect(tokensOf(answered)).toBeLessThanOrEqual(maxTokensMin);
    expect(answered.structuredContent).toMatchObject(own.fields);
    expect(answered.text).toContain('\nNext: get_coverage\n');
  });

  test('has the latest gaps of a long list, and says how many are missing', async () => {
    const read = async (limit: number) => ({ ...(await list([])(limit)), coverage: silent });
    const { structured } = await answer({ read });
    expect(structured.coverage).toMatchObject({ gaps: [gap, gap, gap, gap], gaps_left_out: 56 });
  });
});
