import { expect, test } from 'vitest';
import { eventually } from '../src/eventually.ts';

test('it returns the first truthy value', async () => {
  let calls = 0;
  const value = await eventually(() => (++calls < 3 ? 0 : calls), { timeoutMs: 10_000, intervalMs: 1 });
  expect(value).toBe(3);
});

test('a check that returns nothing is fulfilled when it stops throwing', async () => {
  let calls = 0;
  await eventually(() => expect(++calls).toBe(3), { timeoutMs: 10_000, intervalMs: 1 });
  expect(calls).toBe(3);
});

test('a timeout tells the last failure and carries it as the cause', async () => {
  const failure = new Error('still 4 of 5');
  const promise = eventually(() => Promise.reject(failure), { timeoutMs: 5, intervalMs: 1 });
  await expect(promise).rejects.toThrow('not so within 5 ms; at last: still 4 of 5');
  await expect(promise).rejects.toMatchObject({ cause: failure });
});

test('a timeout tells the last falsy value', async () => {
  await expect(eventually(() => false, { timeoutMs: 1 })).rejects.toThrow('the check returned false');
});
