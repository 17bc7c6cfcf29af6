import { operations } from '@earshot/contract';
import { expect, test } from 'vitest';
import { callOf } from '../../test/call-of.ts';
import { createLocalBells } from '../../test/local-bells.ts';
import { createParsedRules } from '../language/explain-match.ts';
import { createCursors } from '../runtime/cursor.ts';
import { matchIdOf } from '../runtime/ids.ts';
import { createFollowing } from './follow-matches.ts';
import { listMatches } from './list-matches.ts';
import type { MatchReader, StoredMatch } from './match-reader.sql.ts';
import { openMatchTail } from './match-tail.ts';
import { openOffset, scopeOfFilter } from './offset.ts';
import type { TailReader } from './tail-reader.sql.ts';
import { showAll } from './views.ts';

/** Rules with patterns are the slowest to explain: each pattern tries every word of the page. */
const slowRule = Array.from({ length: 8 }, (_, index) => `added:/.*q.{${index}}z/`).join(' OR ');
/** Enough for many turns of the event loop, however fast one match is explained. */
const page = 100;
const text = Array.from({ length: 1500 }, (_, index) => `w${index}`).join(' ');

function slowMatch(position: number): StoredMatch {
  return {
    position,
    ruleId: 'rule_1',
    ruleVersion: 1,
    ruleValue: slowRule,
    createdAt: new Date(0),
    platform: 'firehose',
    platformPostId: 'https://news.example',
    eventKey: `page ${position}`,
    via: 'stream',
    payload: {
      url: 'https://news.example',
      title: null,
      text: null,
      author: null,
      published_at: null,
      language: null,
      raw: { document: { url: 'https://news.example', diff: { chunks: [{ typ: 'ins', text }] } } },
    },
  };
}

const emptyLog: TailReader = {
  lastPosition: async () => 0,
  restoredTo: async () => null,
  after: async () => [],
  load: async () => ({ matches: [], taken: 0 }),
};

/** Lists what `read` returns. */
async function openList(read: MatchReader['read']) {
  const parsedRules = createParsedRules();
  const telemetry = { matchLogRestored: () => undefined, matchFollowed: () => undefined };
  const tail = await openMatchTail({ reader: emptyLog, parsedRules, bells: createLocalBells(), telemetry });
  const unused = () => {
    throw new Error('a list without stories reads no others');
  };
  return listMatches({
    database: { forAccount: unused },
    reader: { overtaken: async () => ({ removedThrough: 0, restoredTo: null, jumpedTo: 0 }) },
    rules: { exists: async () => true },
    coverage: async () => ({ complete_through: null, gaps: [] }),
    cursors: createCursors(Buffer.alloc(32)),
    following: createFollowing({ tail, reader: { read }, parsedRules }),
    views: { view: (_accountId, entries) => showAll(entries) },
  });
}

test('newest first and 50 are the defaults; only "newest" has an end, where there is no cursor', async () => {
  for (const more of [true, false]) {
    const list = await openList(async () => ({ matches: [slowMatch(1)], removals: [], more }));
    const request = operations.ListMatches.request.parse({});
    expect(request).toEqual({ order: 'newest', limit: 50 });
    expect((await list(callOf('ListMatches', request))).next_cursor === null).toBe(!more);
    expect((await list(callOf('ListMatches', { ...request, order: 'oldest' }))).next_cursor).not.toBeNull();
  }
});

test('a cursor of a list in the order of the log continues a stream with the same filter', async () => {
  const list = await openList(async () => ({ matches: [slowMatch(1)], removals: [], more: false }));
  const call = callOf('ListMatches', operations.ListMatches.request.parse({ order: 'oldest' }));
  const { next_cursor: cursor } = await list(call);
  const { accountId } = call.principal;
  const scope = scopeOfFilter({ accountId, ruleId: null, platform: null });
  expect(openOffset(createCursors(Buffer.alloc(32)), scope, cursor ?? '').position).toBe(1);
});

test('a search returns what was found, a cursor while there is more to search, and belongs to its words', async () => {
  const empty = slowMatch(1);
  const found = { ...slowMatch(2), payload: { ...empty.payload, text: 'an outage' } };
  for (const more of [true, false]) {
    const list = await openList(async ({ from }) =>
      from === null
        ? { matches: [found, empty], removals: [], more }
        : { matches: [], removals: [], more: false },
    );
    const request = operations.ListMatches.request.parse({ query: 'Outage' });
    const { matches, next_cursor: cursor } = await list(callOf('ListMatches', request));
    expect(matches.map(({ id }) => id)).toEqual([matchIdOf(2)]);
    expect(cursor).toBeNull();
    const page = await list(callOf('ListMatches', { ...request, limit: 1 }));
    expect(page.next_cursor).not.toBeNull();
    const other = { ...request, query: 'other', cursor: page.next_cursor ?? '' };
    await expect(list(callOf('ListMatches', other))).rejects.toMatchObject({ code: 'invalid_argument' });
  }
});

test('other requests are served while a page of matches is explained', async () => {
  let turns = 0;
  let counting = false;
  const takeTurns = () => {
    if (!counting) return;
    turns++;
    setImmediate(takeTurns);
  };
  const read = async () => {
    counting = true;
    setImmediate(takeTurns);
    return {
      matches: Array.from({ length: page }, (_, index) => slowMatch(index + 1)),
      removals: [],
      more: false,
    };
  };
  const list = await openList(read);
  const { matches } = await list(callOf('ListMatches', { limit: page, order: 'newest' }));
  counting = false;
  expect(matches).toHaveLength(page);
  expect(turns).toBeGreaterThanOrEqual(4);
});
