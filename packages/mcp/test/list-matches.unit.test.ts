import { operations } from '@earshot/contract';
import type { Match } from '@earshot/sdk';
import * as fc from 'fast-check';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, test } from 'vitest';
import { aMatch } from './a-match.ts';
import { connectInProcess, jsonAnswer } from './in-process.ts';
import { injections } from './injections/index.ts';
import { readAnswer } from './injections/read-answer.ts';
import { english, nastyText } from './nasty-texts.ts';

/** Returns pages as the API does. The cursor is the position behind the last match of the page. */
const apiOf =
  (matches: readonly Match[]): typeof fetch =>
  async (input, init) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    if (pathname !== '/matches') return jsonAnswer(operations.GetRule.example.answer);
    const request = JSON.parse(typeof init?.body === 'string' ? init.body : '{}') as {
      limit: number;
      cursor?: string;
    };
    const from = Number(request.cursor?.slice(0, 6) ?? 0);
    const page = matches.slice(from, from + request.limit);
    const end = String(from + page.length).padStart(6, '0');
    const more = from + page.length < matches.length;
    return jsonAnswer({
      matches: page,
      next_cursor: more ? `${end}${'xQ7_'.repeat(9)}` : null,
      coverage: null,
    });
  };

/** Reads all pages and counts their tokens on the wire. */
async function walk(matches: readonly Match[], maxTokens: number) {
  await using server = await connectInProcess(apiOf(matches));
  const ids: string[] = [];
  const answers: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const args = { max_tokens: maxTokens, ...(cursor && { cursor }) };
    const result = await server.client.callTool({ name: 'list_matches', arguments: args });
    expect(result.isError ? result.content : []).toEqual([]);
    expect(result.structuredContent).toBeUndefined();
    const [block] = result.content;
    const page = readAnswer(block?.type === 'text' ? block.text : '');
    expect(page.matches).not.toEqual([]);
    ids.push(...page.matches.map(({ id }) => id));
    answers.push(server.answers.at(-1) ?? '');
    cursor = page.cursor;
  }
  return { ids, tokens: answers.map((answer) => countTokens(answer)) };
}

test('list_matches keeps to max_tokens, envelope included, and skips nothing of 200 injection texts', async () => {
  const matches = injections('0'.repeat(39)).map(({ text }, index) =>
    aMatch(index + 1, { text, other: text, ...(index % 2 === 0 && { url: `${text}${index}` }) }),
  );
  const { ids, tokens } = await walk(matches, 2_000);
  expect(ids).toEqual(matches.map(({ id }) => id));
  expect(Math.max(...tokens)).toBeLessThanOrEqual(2_000);
}, 60_000);

test('list_matches keeps to max_tokens for random texts', { timeout: 60_000 }, async () => {
  const texts = fc.array(fc.tuple(nastyText(400), nastyText(50)), { minLength: 20, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(texts, async (all) => {
      const matches = all.map(([text, other], index) => aMatch(index + 1, { text, other }));
      const { ids, tokens } = await walk(matches, 2_000);
      expect(ids).toEqual(matches.map(({ id }) => id));
      expect(Math.max(...tokens)).toBeLessThanOrEqual(2_000);
    }),
    { numRuns: 5, endOnFailure: true },
  );
});

test('list_matches lists each story once, with its size', async () => {
  const story = { ...storyOf('mat_3'), matches: 7 };
  const requests: object[] = [];
  const matches = [
    { ...aMatch(1, { text: 'one of seven' }), story },
    { ...aMatch(2, { text: 'alone' }), story: storyOf('mat_2') },
  ];
  await using server = await connectInProcess(async (input, init) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    if (pathname === '/matches') requests.push(JSON.parse(typeof init?.body === 'string' ? init.body : '{}'));
    const answer = Object(await (await apiOf(matches)(input, init)).json());
    const hidden = { muted: 0, not_relevant: 0, in_story: 6 };
    return jsonAnswer('matches' in answer ? { ...answer, hidden } : answer);
  });
  const result = await server.client.callTool({ name: 'list_matches', arguments: { group: 'story' } });
  const [block] = result.content;
  const text = block?.type === 'text' ? block.text : '';
  expect(requests).toEqual([expect.objectContaining({ group: 'story' })]);
  expect(text).toMatch(/ R1#7 .*one of seven\n.* R1 .*alone/);
  expect(text).toContain('"#7": one of the 7 matches of a story.');
  expect(text).toContain('Left out: 6 more matches of these stories.');
  expect(text).not.toContain('not relevant');
});

function storyOf(matchId: string): NonNullable<Match['story']> {
  const created_at = '2026-11-14T22:51:09.120Z';
  const because = 'first';
  const member = { match_id: matchId, rule_id: 'rule_1', platform: 'x', because, created_at } as const;
  const [first_at, last_at] = [created_at, created_at];
  return { id: 'story_1', matches: 1, platforms: { x: 1 }, first_at, last_at, because, members: [member] };
}

test('list_matches fills most of max_tokens with English', async () => {
  const matches = Array.from({ length: 40 }, (_, index) => aMatch(index + 1, { text: english }));
  const { tokens } = await walk(matches, 2_000);
  const full = tokens.slice(0, -1);
  expect(full.reduce((sum, count) => sum + count, 0) / full.length / 2_000).toBeGreaterThan(0.5);
});
