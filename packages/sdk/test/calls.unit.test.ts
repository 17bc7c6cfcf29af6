import { type OperationId, operations } from '@earshot/contract';
import { expect, test } from 'vitest';
import { createEarshot } from '../src/index.ts';
import { failure, json, startAnsweringServer } from './answering-server.ts';

// `scenarios.unit.test.ts` has what every SDK does.
const key = 'esk_test';

test('every operation has a method, and there is no other', () => {
  const {
    followMatches: _,
    consumeMatches: __,
    followNotices: ___,
    ...calls
  } = createEarshot({
    url: 'http://127.0.0.1',
    key,
  });
  const ids = (Object.keys(operations) as OperationId[]).filter((id) => !('stream' in operations[id]));
  const nameOf = (id: string) => id.charAt(0).toLowerCase() + id.slice(1);
  expect(Object.keys(calls).toSorted()).toEqual(ids.map(nameOf).toSorted());
});

test('a GET sends the defined fields in the query string', async () => {
  await using server = await startAnsweringServer(json(200, {}));
  await createEarshot({ url: server.url, key }).listRules({ limit: 5, cursor: undefined });
  expect(server.requests[0]?.url).toBe('/api.ListRules?limit=5');
});

test.for(['while it waits for the answer', 'while it waits for the next attempt'])(
  'an abort %s throws the reason of the signal',
  async (when) => {
    const controller = new AbortController();
    const reason = new Error('enough');
    await using server = await startAnsweringServer((response) => {
      if (when.includes('attempt')) failure(503, 'unavailable', { 'retry-after': '30' })(response);
      setTimeout(() => controller.abort(reason), 50);
    });
    const call = createEarshot({ url: server.url, key }).listKeys({}, { signal: controller.signal });
    await expect(call).rejects.toBe(reason);
    expect(server.requests).toHaveLength(1);
  },
);
