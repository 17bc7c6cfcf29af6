import type { ServerResponse } from 'node:http';
import { errorCodes, type OperationId, operations } from '@earshot/contract';
import { expect, test } from 'vitest';
import { createEarshot, EarshotError } from '../src/index.ts';
import { cut, failure, json, proxyPage, startAnsweringServer } from './answering-server.ts';

const key = 'esk_test';
const isStream = (id: OperationId) => 'stream' in operations[id];

test('every operation has a method that sends the request of the contract', async () => {
  await using server = await startAnsweringServer(json(200, { fine: true }));
  const {
    followMatches: _,
    consumeMatches: __,
    followNotices: ___,
    ...calls
  } = createEarshot({ url: `${server.url}/`, key });
  const ids = (Object.keys(operations) as OperationId[]).filter((id) => !isStream(id));
  const nameOf = (id: string) => id.charAt(0).toLowerCase() + id.slice(1);
  expect(Object.keys(calls).toSorted()).toEqual(ids.map(nameOf).toSorted());

  const methods: Record<string, (request: object) => Promise<unknown>> = { ...calls } as never;
  for (const id of ids) {
    const { method, path, changes, example } = operations[id];
    expect(await methods[nameOf(id)]?.(example.request)).toEqual({ fine: true });
    const sent = server.requests.at(-1);
    expect(sent).toMatchObject({ method, headers: { authorization: `Bearer ${key}` } });
    expect(sent?.url.split('?')[0]).toBe(path);
    if (method === 'POST') expect(JSON.parse(sent?.body ?? '')).toEqual(example.request);
    expect(typeof sent?.headers['idempotency-key']).toBe(changes ? 'string' : 'undefined');
  }
});

test('a GET sends the defined fields in the query string', async () => {
  await using server = await startAnsweringServer(json(200, {}));
  await createEarshot({ url: server.url, key }).listRules({ limit: 5, cursor: undefined });
  expect(server.requests[0]?.url).toBe('/api.ListRules?limit=5');
});

test('a limit without Retry-After is not retryable', async () => {
  const full = failure(429, 'resource_exhausted', {}, { reason: 'plan_limit' });
  await using server = await startAnsweringServer(full, json(200, {}));
  const call = createEarshot({ url: server.url, key }).createKey();
  await expect(call).rejects.toMatchObject({ code: 'resource_exhausted', retryable: false });
  expect(server.requests).toHaveLength(1);
});

test('every error of the contract becomes an EarshotError', async () => {
  for (const [code, { status, retryable }] of Object.entries(errorCodes)) {
    await using server = await startAnsweringServer(
      failure(status, code, { 'retry-after': '7' }, { oldest_cursor: 'c' }),
    );
    const error = await createEarshot({ url: server.url, key, timeoutMs: 5_000 })
      .listKeys()
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(EarshotError);
    expect(error).toMatchObject({
      code,
      message: `because ${code}`,
      details: { oldest_cursor: 'c' },
      requestId: 'req_1',
      status,
      retryable,
      retryAfterMs: 7_000,
    });
    // The requested wait is longer than the remaining time.
    expect(server.requests).toHaveLength(1);
  }
});

test.for([
  [401, 'unauthenticated'],
  [403, 'permission_denied'],
  [404, 'unimplemented'],
  [429, 'unavailable'],
  [502, 'unavailable'],
  [503, 'unavailable'],
  [504, 'unavailable'],
  [500, 'unknown'],
  [200, 'unknown'],
] as const)('an error page of a proxy with status %i has the code %s', async ([status, code]) => {
  await using server = await startAnsweringServer(proxyPage(status, { 'retry-after': '600' }));
  const call = createEarshot({ url: server.url, key }).listKeys();
  await expect(call).rejects.toMatchObject({ code, retryable: code === 'unavailable', status });
});

test('a change is retried with the same key after a cut connection, a proxy page and a conflict', async () => {
  await using server = await startAnsweringServer(
    cut,
    proxyPage(502),
    failure(409, 'aborted'),
    json(200, { rule_id: 'rule_1', deleted_at: 'now' }),
  );
  const earshot = createEarshot({ url: server.url, key });
  expect(await earshot.deleteRule({ rule_id: 'rule_1' })).toMatchObject({ rule_id: 'rule_1' });
  const keys = server.requests.map(({ headers }) => headers['idempotency-key']);
  expect(keys).toHaveLength(4);
  expect(new Set(keys).size).toBe(1);
  await earshot.deleteRule({ rule_id: 'rule_1' });
  expect(server.requests.at(-1)?.headers['idempotency-key']).not.toBe(keys[0]);
  await earshot.deleteRule({ rule_id: 'rule_1' }, { idempotencyKey: 'mine' });
  expect(server.requests.at(-1)?.headers['idempotency-key']).toBe('mine');
});

test('errors that are not retryable are not retried', async () => {
  await using server = await startAnsweringServer(failure(400, 'invalid_argument'));
  const call = createEarshot({ url: server.url, key }).getRule({ rule_id: 'rule_1' });
  await expect(call).rejects.toMatchObject({ code: 'invalid_argument' });
  expect(server.requests).toHaveLength(1);
});

test('the next attempt waits for Retry-After', async () => {
  await using server = await startAnsweringServer(
    failure(503, 'unavailable', { 'retry-after': '1' }),
    json(200, {}),
  );
  const start = performance.now();
  await createEarshot({ url: server.url, key }).listKeys();
  expect(performance.now() - start).toBeGreaterThanOrEqual(990);
  expect(server.requests).toHaveLength(2);
});

test.for([
  ['never answers', () => undefined],
  ['stops in its answer', (response: ServerResponse) => void response.writeHead(200).write('{"keys"')],
] as const)('a server that %s causes a timeout', async ([, answer]) => {
  await using server = await startAnsweringServer(answer);
  const call = createEarshot({ url: server.url, key }).listKeys({}, { timeoutMs: 100 });
  await expect(call).rejects.toMatchObject({ code: 'unavailable', retryable: true, status: 0 });
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

test('consumeMatches acknowledges each page after the loop has processed it', async () => {
  const page = (cursor: string | null, ...ids: string[]) =>
    json(200, { matches: ids.map((id) => ({ id })), cursor, coverage: null });
  await using server = await startAnsweringServer(
    page('c2', 'mat_1', 'mat_2'),
    json(200, { reader: 'r', moved: true }),
    page(null),
  );
  const trace: string[] = [];
  const earshot = createEarshot({ url: server.url, key });
  for await (const { id } of earshot.consumeMatches({ reader: 'r', limit: 2 }, { untilEmpty: true })) {
    trace.push(`${id} after ${server.requests.length} requests`);
  }
  expect(trace).toEqual(['mat_1 after 1 requests', 'mat_2 after 1 requests']);
  expect(server.requests.map(({ url, body }) => [url, JSON.parse(body)])).toEqual([
    ['/api.ReadMatches', { reader: 'r', limit: 2, wait_seconds: 0 }],
    ['/api.AckMatches', { reader: 'r', cursor: 'c2' }],
    ['/api.ReadMatches', { reader: 'r', limit: 2, wait_seconds: 0 }],
  ]);
});

test('consumeMatches continues after a restore, and reports it', async () => {
  const page = (cursor: string | null, ...ids: string[]) =>
    json(200, { matches: ids.map((id) => ({ id })), cursor, coverage: null });
  await using server = await startAnsweringServer(
    page('c9', 'mat_9'),
    failure(400, 'out_of_range', {}, { reason: 'restored', oldest_cursor: 'c5' }),
    page('c6', 'mat_6'),
    json(200, { reader: 'r', moved: true }),
    page(null),
  );
  const reported: unknown[] = [];
  const options = { untilEmpty: true, onRestored: (error: unknown) => reported.push(error) };
  const ids: string[] = [];
  const earshot = createEarshot({ url: server.url, key });
  for await (const { id } of earshot.consumeMatches({ reader: 'r' }, options)) ids.push(id);
  expect(ids).toEqual(['mat_9', 'mat_6']);
  expect(reported).toMatchObject([{ details: { oldest_cursor: 'c5' } }]);
});

test('consumeMatches reports removals before it acknowledges them', async () => {
  const removal = {
    type: 'removed',
    match_id: 'mat_0',
    reason: 'forgotten',
    removed_at: '2026-11-16T09:00:00.000Z',
  };
  await using server = await startAnsweringServer(
    json(200, { matches: [], removed: [removal], cursor: 'c2', coverage: null }),
    json(200, { reader: 'r', moved: true }),
    json(200, { matches: [], cursor: null, coverage: null }),
  );
  const reported: unknown[] = [];
  const onRemoved = (one: unknown) => void reported.push([one, server.requests.length]);
  const earshot = createEarshot({ url: server.url, key });
  for await (const match of earshot.consumeMatches({ reader: 'r' }, { untilEmpty: true, onRemoved }))
    expect(match).toBe('none');
  expect(reported).toEqual([[removal, 1]]);
  expect(server.requests.map(({ url }) => url)).toEqual([
    '/api.ReadMatches',
    '/api.AckMatches',
    '/api.ReadMatches',
  ]);
});

test.each([
  [undefined, 'It is missing.'],
  ['', 'It is missing.'],
  ['127.0.0.1:8080', 'It is "127.0.0.1:8080".'],
  ['ftp://earshot.example.com', 'It is "ftp://earshot.example.com".'],
])('the URL %j is refused before the first request', (url, problem) => {
  expect(() => createEarshot({ url: url as string, key })).toThrow(problem);
});
