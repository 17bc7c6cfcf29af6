import { expect, test } from 'vitest';
import type { MatchQuery } from './match-days.sql.ts';
import type { MatchPage, StoredMatch } from './match-reader.sql.ts';
import { searchMatches } from './search-matches.ts';

const query: MatchQuery = {
  accountId: 'acc_1',
  ruleIds: null,
  platform: null,
  since: null,
  until: null,
  order: 'newest',
  from: null,
  limit: 10,
};

function storedMatch(position: number, payload: Partial<StoredMatch['payload']>): StoredMatch {
  const empty = { url: null, title: null, text: null, author: null, published_at: null, language: null };
  return {
    position,
    ruleId: 'rule_1',
    ruleVersion: 1,
    ruleValue: 'acme',
    createdAt: new Date(0),
    platform: 'x',
    platformPostId: String(position),
    eventKey: String(position),
    via: 'stream',
    payload: { ...empty, raw: { note: 'hidden' }, ...payload },
  };
}

/** A log of these texts, the first at position 1. */
function logOf(payloads: ReadonlyArray<Partial<StoredMatch['payload']>>) {
  const all = payloads.map((payload, index) => storedMatch(index + 1, payload)).toReversed();
  const read = async ({ from, limit }: MatchQuery): Promise<MatchPage> => {
    const rest = all.filter(({ position }) => from === null || position < from);
    return { matches: rest.slice(0, limit), removals: [], more: rest.length > limit };
  };
  const search = async (text: string, options: Partial<MatchQuery> = {}) => {
    const { matches, ...found } = await searchMatches(read, { ...query, ...options }, text);
    return { positions: matches.map(({ position }) => position), ...found };
  };
  return { search };
}

test.each([
  ['acme outage', [1]],
  ['OUTAGE', [2, 1]],
  ['ＯＵＴＡＧＥ', [2, 1]],
  ['東京', [4]],
  ['jane', [3]],
  ['status.example', [2]],
  ['hidden', []],
])('%s: all words, in text, title, address or author', async (text, positions) => {
  const { search } = logOf([
    { text: 'An Outage at Acme' },
    { title: 'Outage', url: 'https://status.example/1' },
    { text: 'acme', author: { id: '1', name: 'Jane Doe', handle: 'jd' } },
    { text: '今日の東京は晴れ' },
  ]);
  expect(await search(text)).toEqual({ positions, more: false, through: 1 });
});

test('a page ends with the last match that it has, and the next one continues there', async () => {
  const { search } = logOf(Array.from({ length: 7 }, () => ({ text: 'acme' })));
  expect(await search('acme', { limit: 4 })).toEqual({ positions: [7, 6, 5, 4], more: true, through: 4 });
  expect(await search('acme', { limit: 4, from: 4 })).toEqual({
    positions: [3, 2, 1],
    more: false,
    through: 1,
  });
});

test('one request searches 5,000 matches, and the next one the others', async () => {
  const { search } = logOf(
    Array.from({ length: 5_600 }, (_, index) => ({ text: index < 50 ? 'rare' : 'acme' })),
  );
  const first = await search('rare');
  expect(first).toEqual({ positions: [], more: true, through: 601 });
  const second = await search('rare', { from: first.through });
  expect(second.positions).toEqual([50, 49, 48, 47, 46, 45, 44, 43, 42, 41]);
});
