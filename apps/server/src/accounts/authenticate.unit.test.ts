import { describe, expect, test } from 'vitest';
import { createAuthenticate } from './authenticate.ts';
import { createKey } from './create-key.ts';
import type { Principal } from './principal.ts';

const principal: Principal = { accountId: 'acc_1', keyId: 'key_1', plan: 'paid', scopes: [] };

function setUp(known: readonly string[]) {
  let valid = new Set(known);
  const clock = { now: 0 };
  const asked: string[] = [];
  const touched: string[] = [];
  const authenticate = createAuthenticate(
    {
      principalOf: async (hash) => {
        asked.push(hash.toString('hex'));
        return valid.has(hash.toString('hex')) ? principal : null;
      },
      touch: async (keyId) => void touched.push(keyId),
    },
    () => clock.now,
  );
  return { authenticate, clock, asked, touched, revokeAll: () => (valid = new Set()) };
}

const { key, hash } = createKey();
const bearer = `Bearer ${key}`;

describe('a key', () => {
  test('that is valid has its principal, and the store never sees the key itself', async () => {
    const { authenticate, asked } = setUp([hash.toString('hex')]);
    expect(await authenticate(bearer)).toBe(principal);
    expect(asked).toEqual([hash.toString('hex')]);
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
  ])('that is malformed never reaches the store: %s', async (authorization) => {
    const { authenticate, asked } = setUp([hash.toString('hex')]);
    await expect(authenticate(authorization)).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(asked).toEqual([]);
  });

  test('that is unknown gets the same answer as a malformed one', async () => {
    const { authenticate } = setUp([]);
    const refusals = await Promise.all([bearer, 'nonsense'].map((one) => authenticate(one).catch(String)));
    expect(refusals[0]).toBe(refusals[1]);
  });

  test('is asked for once in a while, and works for at most five seconds after it was revoked', async () => {
    const { authenticate, clock, asked, revokeAll } = setUp([hash.toString('hex')]);
    await authenticate(bearer);
    await authenticate(bearer);
    expect(asked).toHaveLength(1);
    revokeAll();
    clock.now = 5_000;
    await expect(authenticate(bearer)).rejects.toMatchObject({ code: 'unauthenticated' });
    await expect(authenticate(bearer)).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(asked).toHaveLength(3);
  });

  test('is marked as used at its first use, also of a young process, and then once a minute', async () => {
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

test('a new key is shown by its beginning and end, and is known by its hash', () => {
  const made = createKey();
  expect(made.display).toBe(`${made.key.slice(0, 8)}…${made.key.slice(-4)}`);
  expect(createKey().key).not.toBe(made.key);
  expect(made.hash).toHaveLength(32);
});
