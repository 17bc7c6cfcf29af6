import { expect, test } from 'vitest';
import { Failure } from './failure.ts';
import { joinCalls } from './join-calls.ts';

/** Runs groups when the test says so. */
function createRunner() {
  const groups: { items: readonly number[]; finish: () => void }[] = [];
  const call = joinCalls(
    async (items: readonly number[]) => {
      await new Promise<void>((finish) => groups.push({ items, finish }));
      if (items.includes(13)) throw new Error('13');
      return items.map((item) => item * 10);
    },
    { max: 3, retriesAlone: true },
  );
  const next = async (nth: number): Promise<readonly number[]> => {
    while (groups.length <= nth) await new Promise((resolve) => setImmediate(resolve));
    groups[nth]?.finish();
    return groups[nth]?.items ?? [];
  };
  return { call, next };
}

test('runs calls of one turn together, and those that arrive meanwhile in the next groups', async () => {
  const { call, next } = createRunner();
  const first = [call(1), call(2)];
  await new Promise((resolve) => setImmediate(resolve));
  const later = [3, 4, 5, 6].map(call);
  expect([await next(0), await next(1), await next(2)]).toEqual([[1, 2], [3, 4, 5], [6]]);
  expect(await Promise.all([...first, ...later])).toEqual([10, 20, 30, 40, 50, 60]);
});

test('an item that fails its group fails only its own call', async () => {
  const { call, next } = createRunner();
  const results = Promise.allSettled([1, 13, 2].map(call));
  expect([await next(0), await next(1), await next(2), await next(3)]).toEqual([[1, 13, 2], [1], [13], [2]]);
  expect(await results).toEqual([
    { status: 'fulfilled', value: 10 },
    { status: 'rejected', reason: new Error('13') },
    { status: 'fulfilled', value: 20 },
  ]);
  // The next call is not affected.
  const after = call(7);
  await next(4);
  expect(await after).toBe(70);
});

test('an outage fails the whole group at once', async () => {
  let groups = 0;
  const call = joinCalls(
    async () => {
      groups += 1;
      throw new Failure('unavailable', 'The database is down.', { details: { reason: 'overloaded' } });
    },
    { retriesAlone: true },
  );
  const results = await Promise.allSettled([1, 2, 3].map(call));
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(groups).toBe(1);
});
