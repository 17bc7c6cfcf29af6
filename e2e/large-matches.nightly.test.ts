import type { AnswerOf } from '@earshot/contract';
import { eventually } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Answer, Api } from './src/api.ts';
import { type ServerUnderTest, startWorld, type World } from './src/world.ts';

const matchCount = 100;
/** Used for `text` and `raw`: the item is nearly as large as the event log accepts, 400 KiB. */
const textLength = 190_000;
/** A page of results ends at 1 MiB of payloads; ids, times and explanations come on top. */
const answerBytesMax = 1024 * 1024 + 64 * 1024;

let world: World;
let server: ServerUnderTest;
let api: Api;

beforeAll(async () => {
  world = await startWorld();
  server = await world.startServer();
  api = server.api(await world.newAccount());
  await api.createRule({ firehose: 'title:galaxy' });
  const text = 'star '.repeat(textLength / 5);
  for (let n = 0; n < matchCount; n++)
    await world.sandbox.pages([{ url: `https://news.example/${n}`, title: `galaxy ${n}`, text }]);
  await eventually(async () => expect(await api.allMatches()).toHaveLength(matchCount), {
    timeoutMs: 60_000,
  });
});
afterAll(() => world?.[Symbol.asyncDispose]());

async function pageOf(request: object): Promise<AnswerOf<'ListMatches'>> {
  const answer = await api.call('POST', '/matches', { limit: matchCount, ...request });
  assertSize(answer);
  return answer.json as AnswerOf<'ListMatches'>;
}

function assertSize({ status, text }: Answer): void {
  expect(status).toBe(200);
  expect(Buffer.byteLength(text)).toBeLessThan(answerBytesMax);
}

/** Reads page by page to the end, which is null or an empty page. */
async function idsOf(order: 'newest' | 'oldest'): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await pageOf({ order, ...(cursor !== undefined && { cursor }) });
    if (page.matches.length === 0) break;
    ids.push(...page.matches.map(({ id }) => id));
    cursor = page.next_cursor;
  }
  return ids;
}

test('a page of results ends at 1 MiB, and the pages together have every match once, in both directions', async () => {
  const newest = await idsOf('newest');
  expect(new Set(newest).size).toBe(matchCount);
  expect(await idsOf('oldest')).toEqual(newest.toReversed());
  const { matches } = await pageOf({ order: 'newest' });
  // As many as fit, not one at a time.
  expect(matches.length).toBeGreaterThan(1);
});

test('a named reader and a long poll get pages of the same size', async () => {
  const read: string[] = [];
  const request = { reader: 'large', start: 'oldest', limit: matchCount };
  for (;;) {
    const answer = await api.call('POST', '/api.ReadMatches', request);
    assertSize(answer);
    const { matches, cursor } = answer.json as AnswerOf<'ReadMatches'>;
    if (matches.length === 0) break;
    read.push(...matches.map(({ id }) => id));
    expect((await api.call('POST', '/api.AckMatches', { reader: 'large', cursor })).status).toBe(200);
  }
  expect(read).toEqual(await idsOf('oldest'));
  const { next_cursor } = await pageOf({ order: 'oldest', wait_seconds: 1 });
  expect((await pageOf({ order: 'oldest', wait_seconds: 1, cursor: next_cursor })).matches).not.toEqual([]);
});
