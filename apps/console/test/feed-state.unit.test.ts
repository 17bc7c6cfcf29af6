import type { Match } from '@earshot/sdk';
import { expect, test } from 'vitest';
import { emptyFeed, type FeedEvent, liveItemsMax, nextFeed } from '../src/screens/feed/feed-state.ts';

const startMs = Date.parse('2026-11-16T09:00:00.000Z');

function aMatch(number: number): Match {
  return {
    id: `mat_${number}`,
    rule_id: 'rule_1',
    rule_version: 1,
    created_at: new Date(startMs + number * 1_000).toISOString(),
    platform: 'x',
    platform_post_id: String(number),
    via: 'stream',
    payload: {
      url: null,
      title: null,
      text: `post ${number}`,
      author: null,
      published_at: null,
      language: null,
      raw: { data: { text: `post ${number}` } },
    },
    why: { verdict: 'match', confidence: 'exact', evidence: [], undecided: [] },
  };
}

const range = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => aMatch(from + index));
const play = (...events: FeedEvent[]) => events.reduce(nextFeed, emptyFeed);
const ids = (items: readonly { match: { id: string } }[]) => items.map(({ match }) => match.id);

test('a match that is listed and streamed is shown once, the newest first', () => {
  const { items } = play(
    { type: 'arrived', matches: [aMatch(3), aMatch(4)] },
    { type: 'listed', asked: null, matches: [aMatch(3), aMatch(2)], older: null },
  );
  expect(ids(items)).toEqual(['mat_4', 'mat_3', 'mat_2']);
});

test('what arrives while the reader is away waits, and nothing is missing when they are back', () => {
  const away = play(
    { type: 'listed', asked: null, matches: [aMatch(1)], older: null },
    { type: 'away', isAway: true },
    { type: 'arrived', matches: [aMatch(2), aMatch(3)] },
  );
  expect(ids(away.items)).toEqual(['mat_1']);
  expect(away.freshCount).toBe(2);
  const back = nextFeed(away, { type: 'away', isAway: false });
  expect(ids(back.items)).toEqual(['mat_3', 'mat_2', 'mat_1']);
  expect(back.freshCount).toBe(0);
});

test('a removed match vanishes, also when it waits or its page is still on its way', () => {
  const state = play(
    { type: 'listed', asked: null, matches: [aMatch(1)], older: null },
    { type: 'away', isAway: true },
    { type: 'arrived', matches: [aMatch(2)] },
    { type: 'removed', ids: ['mat_0', 'mat_1', 'mat_2'] },
    { type: 'listed', asked: null, matches: [aMatch(0)], older: null },
  );
  expect([state.items, state.fresh, state.freshCount]).toEqual([[], [], 0]);
});

test('a live list is bounded, and what fell out of it is asked for again', () => {
  const { items, older } = play(
    { type: 'listed', asked: null, matches: [aMatch(0)], older: null },
    { type: 'arrived', matches: range(1, liveItemsMax + 10) },
  );
  expect(items).toHaveLength(liveItemsMax);
  // The last one that is left is number 10, and a second more.
  expect(older).toEqual({ to: new Date(startMs + 11 * 1_000).toISOString() });
});

test('more than was kept while away leaves no hole: the list goes on from its end', () => {
  const { items, older, freshCount } = play(
    { type: 'listed', asked: null, matches: [aMatch(0)], older: null },
    { type: 'away', isAway: true },
    { type: 'arrived', matches: range(1, liveItemsMax + 501) },
    { type: 'away', isAway: false },
  );
  expect(items).toHaveLength(liveItemsMax);
  expect(freshCount).toBe(0);
  const to = Date.parse(older?.to ?? '');
  // Late enough for everything that was dropped: the latest of those is number 500.
  expect(to).toBeGreaterThan(startMs + 500 * 1_000);
  const again = nextFeed(
    { ...emptyFeed, items, older },
    { type: 'listed', asked: older, matches: range(0, liveItemsMax + 501).toReversed(), older: null },
  );
  expect(ids(again.items)).toHaveLength(liveItemsMax + 501);
});

test('a page that was on its way when the list was cut is dropped: it would leave a hole', () => {
  const full = play({
    type: 'listed',
    asked: null,
    matches: range(0, 100).toReversed(),
    older: { cursor: 'c1' },
  });
  const cut = nextFeed(full, { type: 'arrived', matches: range(100, 2_000) });
  const late = nextFeed(cut, { type: 'listed', asked: full.older, matches: [aMatch(-1)], older: null });
  expect(ids(late.items)).toEqual(ids(cut.items));
  expect(late.older).toBe(cut.older);
});

test('the platform’s own form of a match is not kept', () => {
  const { items } = play({ type: 'listed', asked: null, matches: [aMatch(1)], older: null });
  expect(JSON.stringify(items)).not.toContain('raw');
});
