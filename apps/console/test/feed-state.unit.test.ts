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

test('shows a match once that is both listed and streamed, newest first', () => {
  const { items } = play(
    { type: 'arrived', matches: [aMatch(3), aMatch(4)] },
    { type: 'listed', requested: null, matches: [aMatch(3), aMatch(2)], older: null },
  );
  expect(ids(items)).toEqual(['mat_4', 'mat_3', 'mat_2']);
});

test('new matches wait while the feed is paused, and none is missing when it resumes', () => {
  const paused = play(
    { type: 'listed', requested: null, matches: [aMatch(1)], older: null },
    { type: 'paused', isPaused: true },
    { type: 'arrived', matches: [aMatch(2), aMatch(3)] },
  );
  expect(ids(paused.items)).toEqual(['mat_1']);
  expect(paused.freshCount).toBe(2);
  const resumed = nextFeed(paused, { type: 'paused', isPaused: false });
  expect(ids(resumed.items)).toEqual(['mat_3', 'mat_2', 'mat_1']);
  expect(resumed.freshCount).toBe(0);
});

test('a removed match disappears, even if it waits or its page arrives later', () => {
  const state = play(
    { type: 'listed', requested: null, matches: [aMatch(1)], older: null },
    { type: 'paused', isPaused: true },
    { type: 'arrived', matches: [aMatch(2)] },
    { type: 'removed', ids: ['mat_0', 'mat_1', 'mat_2'] },
    { type: 'listed', requested: null, matches: [aMatch(0)], older: null },
  );
  expect([state.items, state.fresh, state.freshCount]).toEqual([[], [], 0]);
});

test('a live list is bounded, and dropped matches are requested again', () => {
  const { items, older } = play(
    { type: 'listed', requested: null, matches: [aMatch(0)], older: null },
    { type: 'arrived', matches: range(1, liveItemsMax + 10) },
  );
  expect(items).toHaveLength(liveItemsMax);
  // The time of the last kept match, number 10, plus the overlap of 1 s.
  expect(older).toEqual({ to: new Date(startMs + 11 * 1_000).toISOString() });
});

test('dropping waiting matches leaves no hole: the list continues from the end of the kept ones', () => {
  const { items, older, freshCount } = play(
    { type: 'listed', requested: null, matches: [aMatch(0)], older: null },
    { type: 'paused', isPaused: true },
    { type: 'arrived', matches: range(1, liveItemsMax + 501) },
    { type: 'paused', isPaused: false },
  );
  expect(items).toHaveLength(liveItemsMax);
  expect(freshCount).toBe(0);
  const to = Date.parse(older?.to ?? '');
  // Late enough for all dropped matches, of which the latest is number 500.
  expect(to).toBeGreaterThan(startMs + 500 * 1_000);
  const again = nextFeed(
    { ...emptyFeed, items, older },
    { type: 'listed', requested: older, matches: range(0, liveItemsMax + 501).toReversed(), older: null },
  );
  expect(ids(again.items)).toHaveLength(liveItemsMax + 501);
});

test('drops a page that was requested before the list was cut, because it would leave a hole', () => {
  const full = play({
    type: 'listed',
    requested: null,
    matches: range(0, 100).toReversed(),
    older: { cursor: 'c1' },
  });
  const cut = nextFeed(full, { type: 'arrived', matches: range(100, 2_000) });
  const late = nextFeed(cut, { type: 'listed', requested: full.older, matches: [aMatch(-1)], older: null });
  expect(ids(late.items)).toEqual(ids(cut.items));
  expect(late.older).toBe(cut.older);
});

test('does not keep the raw payload of a match', () => {
  const { items } = play({ type: 'listed', requested: null, matches: [aMatch(1)], older: null });
  expect(JSON.stringify(items)).not.toContain('raw');
});

test('counts hidden matches of pages and of the stream apart, and only those of a page that is used', () => {
  const { hidden } = play(
    {
      type: 'listed',
      requested: null,
      matches: [],
      older: { cursor: 'c1' },
      hidden: { muted: 2, not_relevant: 1 },
    },
    { type: 'hidden', hidden: { muted: 1, not_relevant: 0 } },
    { type: 'listed', requested: null, matches: [], older: null, hidden: { muted: 9, not_relevant: 9 } },
    { type: 'hidden', hidden: { muted: 0, not_relevant: 4 } },
  );
  expect(hidden).toEqual({
    listed: { muted: 2, not_relevant: 1 },
    arrived: { muted: 1, not_relevant: 4 },
  });
});

test('a label marks its match, listed or waiting, and can be removed', () => {
  const relevance = { verdict: 'relevant', by: 'label', reason: null, intent_version: null } as const;
  const labelled = play(
    { type: 'listed', requested: null, matches: [aMatch(1)], older: null },
    { type: 'paused', isPaused: true },
    { type: 'arrived', matches: [aMatch(2), aMatch(3)] },
    { type: 'labelled', id: 'mat_1', relevance },
    { type: 'labelled', id: 'mat_2', relevance },
  );
  const labels = (state: typeof labelled) =>
    [...state.fresh, ...state.items].map(({ match }) => match.relevance);
  expect(labels(labelled)).toEqual([undefined, relevance, relevance]);
  const removed = nextFeed(labelled, { type: 'labelled', id: 'mat_2', relevance: undefined });
  expect(labels(removed)).toEqual([undefined, undefined, relevance]);
});

test('a mute marks the matches of its author without moving the list, until it is deleted', () => {
  const by = (number: number, handle: string) => ({
    ...aMatch(number),
    payload: { ...aMatch(number).payload, author: { id: handle.length.toString(), name: null, handle } },
  });
  const mute = { id: 'mut_1', rule_id: 'rule_1', author: 'ferris', domain: null };
  const muted = play(
    { type: 'listed', requested: null, matches: [by(2, 'Ferris'), by(1, 'other')], older: null },
    { type: 'muted', mute },
  );
  const marks = (state: typeof muted) => state.items.map(({ match }) => match.muted_by);
  expect(marks(muted)).toEqual(['mut_1', undefined]);
  expect(marks(nextFeed(muted, { type: 'unmuted', muteId: 'mut_2' }))).toEqual(['mut_1', undefined]);
  expect(marks(nextFeed(muted, { type: 'unmuted', muteId: 'mut_1' }))).toEqual([undefined, undefined]);
});
