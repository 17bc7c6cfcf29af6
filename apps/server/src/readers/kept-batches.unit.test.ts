import { expect, test } from 'vitest';
import { createKeptBatches } from './kept-batches.ts';
import type { LogEntry } from './to-match.ts';

const removal = {
  type: 'removed',
  match_id: 'match_1',
  reason: 'deleted',
  removed_at: '2026-11-14T00:00:00Z',
} as const;
const entry = (position: number): LogEntry => ({ position, platform: 'x', removal });

function batch(key: string, ...positions: number[]) {
  const byKey = new Map([[key, positions.map(entry)]]);
  return { through: positions.at(-1) ?? 0, byKey, matches: positions.length, characters: 0 };
}

const all = { limit: 10, accepts: () => true };
const taken = (kept: ReturnType<typeof createKeptBatches>, key: string, position: number) =>
  kept.after(key, position, all)?.entries.map((one) => one.position);

test('entries of a key are found behind batches for other keys, from any position', () => {
  const kept = createKeptBatches(0, {});
  for (const one of [batch('a', 1, 2), batch('b', 3), batch('b', 4), batch('a', 5)]) kept.add(one);
  expect([0, 1, 2, 3, 5].map((position) => taken(kept, 'a', position))).toEqual([
    [1, 2, 5],
    [2, 5],
    [5],
    [5],
    [],
  ]);
  expect(taken(kept, 'b', 0)).toEqual([3, 4]);
});

test('the oldest batch is dropped when there are too many, and no other', () => {
  const kept = createKeptBatches(0, { matchesMax: 3 });
  for (const one of [batch('a', 1, 2), batch('b', 3), batch('a', 4)]) kept.add(one);
  expect(taken(kept, 'a', 1)).toBeUndefined();
  expect(taken(kept, 'a', 2)).toEqual([4]);
  expect(taken(kept, 'b', 2)).toEqual([3]);
});

test('after a restart at an earlier position, nothing from before is returned', () => {
  const kept = createKeptBatches(0, {});
  kept.add(batch('a', 5, 6));
  kept.restart(3);
  kept.add(batch('a', 4));
  expect(taken(kept, 'a', 3)).toEqual([4]);
});

test('equal requests get the same object, until something is added or removed', () => {
  const kept = createKeptBatches(0, {});
  const ask = (position = 0, accepts: (one: LogEntry) => boolean = all.accepts) =>
    kept.after('a', position, { ...all, accepts });
  kept.add(batch('a', 1, 2));
  const first = ask();
  expect(ask()).toBe(first);
  expect(ask(0, (one) => one.position > 1)?.entries).toHaveLength(1);
  expect(ask(1)?.entries).toHaveLength(1);
  expect(ask()).toEqual(first);
  kept.add(batch('a', 3));
  expect(ask()?.entries).toHaveLength(3);
  kept.restart(3);
  expect(ask()).toBeNull();
});
