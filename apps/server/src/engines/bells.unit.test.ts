import { describe, expect, test } from 'vitest';
import { createBellListener } from './bells.ts';

const never = new AbortController().signal;
const longMs = 60_000;

describe('a bell listener', () => {
  test('returns at once if the bell rang before the wait, once', async () => {
    const bell = createBellListener(() => undefined);
    bell.rang();
    bell.rang();
    await bell.wait(longMs, never);
    const startedAt = performance.now();
    await bell.wait(20, never);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(19);
  });

  test('wakes all waiting callers', async () => {
    const bell = createBellListener(() => undefined);
    const waiting = [bell.wait(longMs, never), bell.wait(longMs, never)];
    bell.rang();
    await expect(Promise.all(waiting)).resolves.toHaveLength(2);
  });

  test('stops waiting when the signal is aborted', async () => {
    const bell = createBellListener(() => undefined);
    const stop = new AbortController();
    const waiting = bell.wait(longMs, stop.signal);
    stop.abort();
    await expect(waiting).resolves.toBeUndefined();
    await expect(bell.wait(longMs, stop.signal)).resolves.toBeUndefined();
  });

  test('calls back when it is disposed', () => {
    let disposed = 0;
    {
      using _bell = createBellListener(() => void disposed++);
    }
    expect(disposed).toBe(1);
  });
});
