import { expect, test } from 'vitest';
import { Failure } from '../runtime/failure.ts';
import type { Claim } from './change.ts';
import {
  type ClaimedRequest,
  type ClaimStore,
  createAnswerOnce,
  type KeyedRequest,
  readIdempotencyKey,
} from './idempotency.ts';

/** In memory; the real store is tested on PostgreSQL. */
function memoryStore(): Omit<ClaimStore, 'forgetSome'> {
  const rows = new Map<string, { fingerprint: Buffer; attempt: string; body: string | null }>();
  const idOf = ({ accountId, operation }: ClaimedRequest, { key }: Claim) =>
    JSON.stringify([accountId, operation, key]);
  return {
    async claim(what, claim) {
      const row = rows.get(idOf(what, claim));
      if (!row) {
        rows.set(idOf(what, claim), { ...what, attempt: claim.attempt, body: null });
        return { kind: 'first' };
      }
      if (!row.fingerprint.equals(what.fingerprint)) return { kind: 'other_request' };
      return row.body === null ? { kind: 'running' } : { kind: 'answered', body: row.body };
    },
    async keep(what, claim, body) {
      const row = rows.get(idOf(what, claim));
      if (row?.body === null) row.body = body;
    },
    async free(what, claim) {
      if (rows.get(idOf(what, claim))?.body === null) rows.delete(idOf(what, claim));
    },
  };
}

const keyed: KeyedRequest = {
  accountId: 'acc_1',
  operation: 'CreateRule',
  key: 'k',
  request: { name: 'a', platforms: ['x', 'firehose'], overrides: { x: '1', firehose: '2' } },
};

test('the same request gets the same bytes, whatever the order of its fields', async () => {
  const answerOnce = createAnswerOnce(memoryStore());
  const first = await answerOnce(keyed, async () => ({ b: 1, a: 2 }));
  expect(first).toEqual({ body: '{"b":1,"a":2}', replayed: false });
  const request = { overrides: { firehose: '2', x: '1' }, platforms: ['x', 'firehose'], name: 'a' };
  const again = await answerOnce({ ...keyed, request }, () => Promise.reject(new Error('ran twice')));
  expect(again).toEqual({ body: first.body, replayed: true });
});

test('another request with the same key is refused, and the order of a list matters', async () => {
  const answerOnce = createAnswerOnce(memoryStore());
  await answerOnce(keyed, async () => ({}));
  const request = { name: 'a', platforms: ['firehose', 'x'], overrides: { x: '1', firehose: '2' } };
  await expect(answerOnce({ ...keyed, request }, async () => ({}))).rejects.toMatchObject({
    code: 'invalid_argument',
    details: { violations: [{ field: 'Idempotency-Key', code: 'invalid_value' }] },
  });
});

test('keys are separate per account and per operation', async () => {
  const answerOnce = createAnswerOnce(memoryStore());
  for (const other of [keyed, { ...keyed, accountId: 'acc_2' }, { ...keyed, operation: 'DeleteRule' }]) {
    expect(await answerOnce(other, async () => ({}))).toMatchObject({ replayed: false });
  }
});

test('a second request must wait while the first runs, and a failure frees the key', async () => {
  const answerOnce = createAnswerOnce(memoryStore());
  const running = Promise.withResolvers<object>();
  const first = answerOnce(keyed, () => running.promise);
  await expect(answerOnce(keyed, async () => ({}))).rejects.toMatchObject({ code: 'aborted' });
  running.reject(new Failure('unavailable', 'not now', { details: { reason: 'database' } }));
  await expect(first).rejects.toMatchObject({ code: 'unavailable' });
  expect(await answerOnce(keyed, async () => ({}))).toMatchObject({ replayed: false });
});

test('a key has 1 to 255 characters', () => {
  expect(readIdempotencyKey(undefined)).toBeNull();
  expect(readIdempotencyKey('k'.repeat(255))).toHaveLength(255);
  for (const bad of ['', 'k'.repeat(256)]) {
    expect(() => readIdempotencyKey(bad)).toThrow(/^Idempotency-Key: Must/);
  }
});
