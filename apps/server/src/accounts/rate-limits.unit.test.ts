import fc from 'fast-check';
import { expect, test } from 'vitest';
import { testLimits } from '../../test/call-of.ts';
import type { Principal } from './call.ts';
import { createRateLimits, createStreamLimit, type RateLimitsOptions } from './rate-limits.ts';
import { fullBucket, refill, takeOne } from './token-bucket.ts';

function start(options: Partial<RateLimitsOptions> = {}) {
  const clock = { nowMs: 0 };
  const limits = createRateLimits({
    inFlightMax: 1_000,
    contact: 'us@example.com',
    nowMs: () => clock.nowMs,
    ...options,
  });
  const admit = (caller: Principal, changes = false) => limits.admit(caller, { changes });
  const admitted = (caller: Principal, times: number, changes = false) =>
    Array.from({ length: times }, () => admit(caller, changes)).filter(({ refusal }) => refusal === null)
      .length;
  return { clock, admit, admitted };
}

function principal(keyId: string, accountId = 'acc_1', requests = 60): Principal {
  return { keyId, accountId, plan: 'paid', limits: { ...testLimits, requests, changes: 6 }, scopes: [] };
}

test('a key can use its requests of a minute at once, and then one per second', () => {
  const { clock, admitted } = start();
  expect(admitted(principal('key_1'), 100)).toBe(60);
  clock.nowMs += 999;
  expect(admitted(principal('key_1'), 10)).toBe(0);
  clock.nowMs += 1;
  expect(admitted(principal('key_1'), 10)).toBe(1);
  clock.nowMs += 3_600_000;
  expect(admitted(principal('key_1'), 100)).toBe(60);
});

test('all keys of an account together get twice the requests of one key, and other accounts are unaffected', () => {
  const { admitted } = start();
  expect(['key_1', 'key_2', 'key_3'].map((key) => admitted(principal(key), 100))).toEqual([60, 60, 0]);
  expect(admitted(principal('key_4', 'acc_2'), 100)).toBe(60);
  expect(admitted(principal('key_5', 'acc_3', 6), 100)).toBe(6);
});

test('changes have a separate limit, which does not affect reads', () => {
  const { admitted } = start();
  expect(admitted(principal('key_1'), 20, true)).toBe(6);
  expect(admitted(principal('key_2'), 20, true)).toBe(0);
  expect(admitted(principal('key_1'), 100)).toBe(54);
});

test('every answer reports the limits and what remains', () => {
  const { admit } = start();
  expect(admit(principal('key_1')).headers).toEqual({
    'ratelimit-policy': '"default";q=60;w=60, "account";q=120;w=60',
    ratelimit: '"default";r=59;t=1, "account";r=119;t=1',
  });
  expect(admit(principal('key_1'), true).headers).toEqual({
    'ratelimit-policy': '"default";q=60;w=60, "account";q=120;w=60, "changes";q=6;w=60',
    ratelimit: '"default";r=58;t=2, "account";r=118;t=1, "changes";r=5;t=10',
  });
});

test('a refusal names the limit, its use, the contact and the wait, and uses nothing up', () => {
  const { clock, admit, admitted } = start();
  admitted(principal('key_1'), 60);
  for (let n = 0; n < 1_000; n++) admit(principal('key_1'));
  expect(admit(principal('key_1')).headers['ratelimit']).toBe('"default";r=0;t=60, "account";r=60;t=30');
  expect(admit(principal('key_1')).refusal).toMatchObject({
    code: 'resource_exhausted',
    message: 'This key may send 60 requests per minute. Wait 1 s, or ask us@example.com for more.',
    details: { limit: 60, used: 60, contact: 'us@example.com' },
    retryAfterSeconds: 1,
  });
  clock.nowMs += 1_000;
  expect(admit(principal('key_1')).refusal).toBeNull();
});

test('an account has a maximum of requests in progress, until answers are sent', () => {
  const { admit } = start({ inFlightMax: 2 });
  const [first, second] = [admit(principal('key_1')), admit(principal('key_2'))];
  expect(second?.refusal).toBeNull();
  const third = admit(principal('key_1'));
  expect(third.refusal).toMatchObject({
    code: 'resource_exhausted',
    details: { limit: 2, used: 2 },
    retryAfterSeconds: 1,
  });
  // A refused request was never in progress.
  third.release();
  expect(admit(principal('key_1')).refusal).not.toBeNull();
  expect(admit(principal('key_3', 'acc_2')).refusal).toBeNull();
  first?.release();
  expect(admit(principal('key_1')).refusal).toBeNull();
  expect(admit(principal('key_1')).refusal).not.toBeNull();
});

test('releasing an answer twice frees one place only', () => {
  const { admit } = start({ inFlightMax: 2 });
  const first = admit(principal('key_1'));
  admit(principal('key_1'));
  first.release();
  first.release();
  expect(admit(principal('key_1')).refusal).toBeNull();
  expect(admit(principal('key_1')).refusal).not.toBeNull();
});

test('a key has a maximum of open streams, until one is closed', () => {
  const open = createStreamLimit({ perKeyMax: 2, contact: 'us@example.com' });
  const first = open(principal('key_1'));
  open(principal('key_1'));
  const refused = expect.objectContaining({ code: 'resource_exhausted', retryAfterSeconds: 10 });
  expect(() => open(principal('key_1'))).toThrow(refused);
  open(principal('key_2'));
  first[Symbol.dispose]();
  open(principal('key_1'));
  expect(() => open(principal('key_1'))).toThrow(refused);
});

test('a limited number of keys is remembered, the least recently used ones are removed first', () => {
  const { admitted } = start({ rememberedMax: 10 });
  expect(admitted(principal('busy', 'acc_busy'), 59)).toBe(59);
  for (let n = 0; n < 9; n++) admitted(principal(`key_${n}`, `acc_${n}`), 1);
  expect(admitted(principal('busy', 'acc_busy'), 5)).toBe(1);
  for (let n = 9; n < 20; n++) admitted(principal(`key_${n}`, `acc_${n}`), 1);
  // Its bucket was removed and is full again: the price of bounded memory.
  expect(admitted(principal('busy', 'acc_busy'), 100)).toBe(60);
});

test('a bucket never gives more than its limit plus what was refilled', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 5_000 })), fc.integer({ min: 1, max: 6_000 }), (pauses, perMinute) => {
      let bucket = fullBucket(perMinute, 0);
      let nowMs = 0;
      let given = 0;
      for (const pauseMs of pauses) {
        nowMs += pauseMs;
        bucket = refill(bucket, perMinute, nowMs);
        for (let next = takeOne(bucket); next; next = takeOne(bucket)) {
          bucket = next;
          given += 1;
        }
      }
      expect(given).toBeLessThanOrEqual(perMinute + (nowMs * perMinute) / 60_000 + 1e-6);
    }),
    { numRuns: 50 },
  );
});
