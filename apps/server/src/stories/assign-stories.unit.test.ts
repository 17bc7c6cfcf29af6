import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { assignStories, type KnownKey, type MatchToAssign, windowMs } from './assign-stories.ts';

const hourMs = 3_600_000;
const startMs = Date.parse('2026-11-14T00:00:00Z');

interface Post {
  readonly keys: readonly string[];
  readonly hours?: number;
  readonly account?: string;
}

/** The `nth` match, at position 10 * nth. */
function matchOf({ keys, hours = 0, account = 'acc_1' }: Post, index: number): MatchToAssign {
  const atMs = startMs + hours * hourMs;
  return {
    position: 10 * (index + 1),
    accountId: account,
    day: new Date(atMs).toISOString().slice(0, 10),
    item: { atMs, keys: keys.map((key) => ({ because: 'same_url', key })) },
  };
}

/** What the tables hold, as the statements write it. */
function createTables() {
  const keys = new Map<string, { accountId: string; key: string; storyId: number; atMs: number }>();
  const stories = new Map<number, { lastAtMs: number; mergedInto: number | null }>();
  const members = new Map<number, { storyId: number; because: string }>();
  const latest = (id: number) => stories.get(id)?.mergedInto ?? id;
  return {
    store(matches: readonly MatchToAssign[]): void {
      const wanted = new Set(
        matches.flatMap(({ accountId, item }) => item.keys.map(({ key }) => `${accountId} ${key}`)),
      );
      const known = [...keys]
        .filter(([name]) => wanted.has(name))
        .map(([, row]): KnownKey => {
          const storyId = latest(row.storyId);
          return {
            ...row,
            storyId,
            isStored: stories.has(row.storyId),
            lastAtMs: stories.get(storyId)?.lastAtMs ?? row.atMs,
            day: new Date(row.atMs).toISOString().slice(0, 10),
          };
        });
      const changes = assignStories(known, matches);
      for (const row of changes.keys) keys.set(`${row.accountId} ${row.key}`, row);
      for (const { storyId } of changes.begun) {
        expect(members.has(storyId)).toBe(false);
        members.set(storyId, { storyId, because: 'first' });
      }
      for (const { position, ...member } of changes.members) members.set(position, member);
      for (const { id, lastAtMs, mergedInto } of changes.stories) {
        stories.set(id, { lastAtMs, mergedInto });
        if (mergedInto === null) continue;
        for (const row of stories.values()) if (row.mergedInto === id) row.mergedInto = mergedInto;
      }
    },
    /** The story of each position with others; `3→2` is a member of a merged story. */
    stories: () =>
      Object.fromEntries(
        [...members]
          .toSorted(([one], [other]) => one - other)
          .map(([position, { storyId }]) => [position, latest(storyId)]),
      ),
    reasons: () => [...members.values()].map(({ because }) => because),
  };
}

function storiesOf(...batches: ReadonlyArray<readonly Post[]>) {
  const tables = createTables();
  const matches = batches.flat().map(matchOf);
  let from = 0;
  for (const { length } of batches) {
    tables.store(matches.slice(from, from + length));
    from += length;
  }
  return tables.stories();
}

describe('a match', () => {
  test('that shares a key joins the story, and one that is alone has none', () => {
    expect(storiesOf([{ keys: ['a', 'u'] }, { keys: ['b'] }, { keys: ['c', 'u'] }])).toEqual({
      10: 10,
      30: 10,
    });
  });

  test('of another account never joins', () => {
    expect(storiesOf([{ keys: ['u'] }, { keys: ['u'], account: 'acc_2' }])).toEqual({});
  });

  test('joins within 72 hours of the last item of the story, whichever key that item has', () => {
    const chain = [
      { keys: ['a', 'u'] },
      { keys: ['b', 'u', 'v'], hours: 72 },
      { keys: ['c', 'a'], hours: 144 },
    ];
    expect(storiesOf(chain)).toEqual({ 10: 10, 20: 10, 30: 10 });
    expect(storiesOf(chain.slice(0, 1), [{ keys: ['c', 'a'], hours: 72.01 }])).toEqual({});
  });

  test('after the window begins a story, which takes the key', () => {
    const [first, later, next] = [{ keys: ['u'] }, { keys: ['u'], hours: 73 }, { keys: ['u'], hours: 74 }];
    expect(storiesOf([first, later, next])).toEqual({ 20: 20, 30: 20 });
  });

  test('that arrives late joins within the window, and otherwise leaves the key to the later story', () => {
    const late = (hours: number) =>
      storiesOf([{ keys: ['u'], hours: 100 }], [{ keys: ['l', 'u'], hours }], [{ keys: ['u'], hours: 101 }]);
    expect(late(28)).toEqual({ 10: 10, 20: 10, 30: 10 });
    expect(late(27)).toEqual({ 10: 10, 30: 10 });
  });

  test('that shares keys with several stories merges them into the oldest', () => {
    const merged = [
      { keys: ['a'] },
      { keys: ['b'] },
      { keys: ['c'] },
      { keys: ['c', 'b'] },
      { keys: ['b', 'a'] },
    ];
    const together = { 10: 10, 20: 10, 30: 10, 40: 10, 50: 10 };
    expect(storiesOf(merged)).toEqual(together);
    expect(storiesOf(...merged.map((one) => [one]))).toEqual(together);
    expect(storiesOf(...[...merged, { keys: ['c'] }].map((one) => [one]))).toEqual({ ...together, 60: 10 });
  });

  test('has the reason of its first key that others have', () => {
    const tables = createTables();
    const item = (because: 'quote' | 'copy', key: string) => ({ because, key });
    const at = { accountId: 'acc_1', day: '2026-11-14' };
    tables.store([
      { ...at, position: 1, item: { atMs: startMs, keys: [item('quote', 'a'), item('copy', 't')] } },
      { ...at, position: 2, item: { atMs: startMs, keys: [item('quote', 'b'), item('copy', 't')] } },
      { ...at, position: 3, item: { atMs: startMs, keys: [item('quote', 'a'), item('copy', 't')] } },
    ]);
    expect(tables.reasons()).toEqual(['first', 'copy', 'quote']);
  });
});

const posts = fc.array(
  fc.record({
    keys: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'), {
      minLength: 1,
      maxLength: 3,
    }),
    hours: fc.integer({ min: 0, max: 300 }),
    account: fc.constantFrom('acc_1', 'acc_2'),
  }),
  { minLength: 1, maxLength: 40 },
);

test('the same matches make the same stories, however they are split into batches', () => {
  fc.assert(
    fc.property(posts, fc.array(fc.integer({ min: 1, max: 10 })), (all, sizes) => {
      const split: Post[][] = [];
      let from = 0;
      for (const size of sizes) {
        split.push(all.slice(from, from + size));
        from += size;
      }
      expect(storiesOf(...split, all.slice(from))).toEqual(storiesOf(all));
    }),
    { numRuns: 500 },
  );
});

test('items of a story are connected by keys within the window, and accounts are never mixed', () => {
  fc.assert(
    fc.property(posts, (all) => {
      const stories = Object.entries(storiesOf(all));
      for (const [, members] of Map.groupBy(stories, ([, story]) => story)) {
        const its = members
          .map(([position]) => all[Number(position) / 10 - 1])
          .filter((one) => one !== undefined);
        expect(new Set(its.map(({ account }) => account)).size).toBe(1);
        const reached = its.slice(0, 1);
        for (const one of reached)
          reached.push(
            ...its.filter(
              (other) => !reached.includes(other) && other.keys.some((key) => one.keys.includes(key)),
            ),
          );
        expect(reached).toHaveLength(its.length);
        const times = its.map(({ hours }) => hours).toSorted((one, other) => one - other);
        for (const [index, hours] of times.slice(1).entries())
          expect((hours - (times[index] ?? 0)) * hourMs).toBeLessThanOrEqual(windowMs);
      }
    }),
    { numRuns: 500 },
  );
});
