import { describe, expect, test } from 'vitest';
import { testLimits } from '../../test/call-of.ts';
import { createAuthenticate, createKeyGuesses } from './authenticate.ts';
import type { Principal } from './call.ts';
import { newKey } from './keys.ts';

const principal: Principal = {
  accountId: 'acc_1',
  keyId: 'key_1',
  plan: 'paid',
  limits: testLimits,
  scopes: [],
};

const guessesPerMinute = 10;

function setUp(known: readonly string[]) {
  let valid = new Set(known);
  const clock = { now: 0 };
  const lookups: string[] = [];
  const touched: string[] = [];
  const nowMs = () => clock.now;
  const authenticateFrom = createAuthenticate({
    store: {
      principalOf: async (hash) => {
        lookups.push(hash.toString('hex'));
        return valid.has(hash.toString('hex')) ? principal : null;
      },
      touch: async (keyId) => void touched.push(keyId),
    },
    guesses: createKeyGuesses({ perMinute: guessesPerMinute, nowMs }),
    nowMs,
  });
  const authenticate = (authorization: string | undefined) => authenticateFrom(authorization, '192.0.2.1');
  return { authenticate, authenticateFrom, clock, lookups, touched, revokeAll: () => (valid = new Set()) };
}

const { key, hash } = newKey();
const bearer = `Bearer ${key}`;

describe('authenticate', () => {
  test('returns the principal of a valid key, and gives the store only the hash of the key', async () => {
    const { authenticate, lookups } = setUp([hash.toString('hex')]);
    expect(await authenticate(bearer)).toBe(principal);
    expect(lookups).toEqual([hash.toString('hex')]);
  });

  test.each([
    undefined,
    '',
    'Bearer ',
    key,
    `bearer ${key}`,
    `Basic ${key}`,
    `Bearer ${key} `,
    `Bearer  ${key}`,
    `Bearer ${key.slice(0, -1)}`,
    `Bearer ${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`,
    `Bearer ${'x'.repeat(100_000)}`,
  ])('rejects a malformed key without a lookup: %s', async (authorization) => {
    const { authenticate, lookups } = setUp([hash.toString('hex')]);
    await expect(authenticate(authorization)).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(lookups).toEqual([]);
  });

  test('answers an unknown key like a malformed one', async () => {
    const { authenticate } = setUp([]);
    const refusals = await Promise.all([bearer, 'nonsense'].map((one) => authenticate(one).catch(String)));
    expect(refusals[0]).toBe(refusals[1]);
  });

  test('caches a key for a few seconds, and accepts it for at most five seconds after it was revoked', async () => {
    const { authenticate, clock, lookups, revokeAll } = setUp([hash.toString('hex')]);
    await authenticate(bearer);
    await authenticate(bearer);
    expect(lookups).toHaveLength(1);
    revokeAll();
    clock.now = 5_000;
    await expect(authenticate(bearer)).rejects.toMatchObject({ code: 'unauthenticated' });
    await expect(authenticate(bearer)).rejects.toMatchObject({ code: 'unauthenticated' });
    // A revoked key is not looked up again.
    expect(lookups).toHaveLength(2);
  });

  test('marks a key as used at its first use, also in a young process, and then once a minute', async () => {
    const { authenticate, clock, touched } = setUp([hash.toString('hex')]);
    const useAt = async (ms: number) => {
      clock.now = ms;
      await authenticate(bearer);
      return touched.length;
    };
    expect(await useAt(10)).toBe(1);
    expect(await useAt(30_000)).toBe(1);
    expect(await useAt(60_011)).toBe(2);
  });
});

describe('unknown keys', () => {
  const unknown = (count: number) => Array.from({ length: count }, () => `Bearer ${newKey().key}`);

  test('are limited per minute and address', async () => {
    const { authenticateFrom, clock } = setUp([]);
    const tryAll = async (address: string) => {
      const codes: string[] = [];
      for (const one of unknown(15))
        codes.push(await authenticateFrom(one, address).catch(({ code }) => code));
      return codes;
    };
    const codes = await tryAll('192.0.2.1');
    expect(codes.filter((code) => code === 'unauthenticated')).toHaveLength(guessesPerMinute);
    expect(codes.filter((code) => code === 'resource_exhausted')).toHaveLength(5);
    expect(await tryAll('192.0.2.2')).toContain('unauthenticated');
    clock.now += 6_001;
    const [next = ''] = unknown(1);
    await expect(authenticateFrom(next, '192.0.2.1')).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  test('are counted per network for IPv6', async () => {
    const { authenticateFrom } = setUp([]);
    const codes: string[] = [];
    for (const [n, one] of unknown(15).entries())
      codes.push(
        await authenticateFrom(one, n % 2 ? `2001:db8:1:2::${n}` : `2001:db8:1:2:${n}:4:5:6`).catch(
          ({ code }) => code,
        ),
      );
    expect(codes.filter((code) => code === 'resource_exhausted')).toHaveLength(5);
    const [other = ''] = unknown(1);
    await expect(authenticateFrom(other, '2001:db8:1:3::1')).rejects.toMatchObject({
      code: 'unauthenticated',
    });
  });

  test('do not lock out a valid key from the same address, whether or not it was used before', async () => {
    const other = newKey();
    const { authenticate, clock } = setUp([hash, other.hash].map((one) => one.toString('hex')));
    await authenticate(bearer);
    for (const one of unknown(15)) await authenticate(one).catch(() => undefined);
    clock.now += 4_000;
    expect(await authenticate(bearer)).toBe(principal);
    expect(await authenticate(`Bearer ${other.key}`)).toBe(principal);
  });

  test('are counted together if they come from values that are not addresses', async () => {
    const { authenticateFrom } = setUp([]);
    const codes: string[] = [];
    for (const [n, one] of unknown(15).entries())
      codes.push(await authenticateFrom(one, `unknown-${n}`).catch(({ code }) => code));
    expect(codes).toContain('resource_exhausted');
  });

  test('are not looked up again', async () => {
    const { authenticate, lookups } = setUp([]);
    for (let n = 0; n < 100; n++)
      await expect(authenticate(bearer)).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(lookups).toHaveLength(1);
  });

  test('are not counted when they turn out to be valid, also when many arrive at once', async () => {
    const keys = Array.from({ length: 30 }, newKey);
    const { authenticate } = setUp(keys.map((one) => one.hash.toString('hex')));
    const found = await Promise.all(keys.map((one) => authenticate(`Bearer ${one.key}`)));
    expect(new Set(found)).toEqual(new Set([principal]));
  });
});

test('a new key is displayed by its first and last characters, and identified by its hash', () => {
  const made = newKey();
  expect(made.display).toBe(`${made.key.slice(0, 8)}…${made.key.slice(-4)}`);
  expect(newKey().key).not.toBe(made.key);
  expect(made.hash).toHaveLength(32);
});
