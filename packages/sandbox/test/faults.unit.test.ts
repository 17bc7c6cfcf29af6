import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Sandbox, startSandbox } from '../src/index.ts';
import { at, createClient, eventually, xRulesPath } from './client.ts';

vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 });

let sandbox: Sandbox;
let client: ReturnType<typeof createClient>;

beforeEach(async () => {
  sandbox = await startSandbox({ ruleDelayMs: 0 });
  client = createClient(sandbox);
});
afterEach(() => sandbox.close());

const addX = (value: string) => client.x('POST', xRulesPath, { add: [{ value }] });
const addTap = (value: string) => client.tap('POST', '/v1/rules', { value });
const xCount = async () => at((await client.x('GET', xRulesPath)).body, 'meta', 'result_count');
const tapCount = async () => at((await client.tap('GET', '/v1/rules')).body, 'meta', 'count');

describe('rule faults', () => {
  test('rule_refused refuses the rules that contain the text, with the given message', async () => {
    await client.arm({ kind: 'rule_refused', contains: 'ice', message: 'not today', count: 2 });
    expect((await addX('fjord')).status).toBe(201);
    expect(await addX('ice')).toMatchObject({
      status: 200,
      body: { errors: [{ value: 'ice', title: 'UnprocessableEntity', details: ['not today'] }] },
    });
    expect(await addTap('ice')).toMatchObject({ status: 422, body: { message: 'not today' } });
    expect(await client.fired()).toEqual([2]);
    expect((await addX('ice')).status).toBe(201);
  });

  test('rules_status answers without a change, only in its scope', async () => {
    await client.arm({ kind: 'rules_status', platform: 'x', status: 429, retry_after: 7, method: 'POST' });
    expect((await addTap('ice')).status).toBe(201);
    expect(await xCount()).toBe(0);
    const refused = await addX('ice');
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('7');
    expect(await xCount()).toBe(0);
    expect(await client.fired()).toEqual([1]);
  });

  test('rules_status is limited to a token', async () => {
    await client.arm({ kind: 'rules_status', token: 'fh_sandbox', status: 500 });
    expect((await addX('ice')).status).toBe(201);
    expect((await addTap('ice')).status).toBe(500);
  });

  test('rules_delay makes the change at once and answers late', async () => {
    await client.arm({ kind: 'rules_delay', ms: 1_500 });
    let isAnswered = false;
    const answer = addX('ice').finally(() => {
      isAnswered = true;
    });
    await eventually(xCount, (count) => count === 1);
    expect(isAnswered).toBe(false);
    expect((await answer).status).toBe(201);
    expect(await client.fired()).toEqual([1]);
  });

  test('rules_lost_answer makes the change and loses the answer', async () => {
    await client.arm({ kind: 'rules_lost_answer', count: 2 });
    await expect(addX('ice')).rejects.toThrow('fetch failed');
    await expect(addTap('ice')).rejects.toThrow('fetch failed');
    expect([await xCount(), await tapCount()]).toEqual([1, 1]);
    expect(await client.fired()).toEqual([2]);
  });

  test('rules_vanish drops rules of both services, or only those with the text', async () => {
    await addX('fjord');
    await addX('ice');
    await addTap('ice');
    expect(await client.arm({ kind: 'rules_vanish', contains: 'ice' })).toMatchObject({ fired: 2 });
    expect([await xCount(), await tapCount()]).toEqual([1, 0]);
  });
});

describe('stream faults', () => {
  test('stream_status refuses the next connection', async () => {
    await addX('ice');
    await addTap('ice');
    await client.arm({
      kind: 'stream_status',
      platform: 'x',
      status: 503,
      body: { title: 'ConnectionException' },
    });
    await client.arm({ kind: 'stream_status', platform: 'firehose', status: 402 });
    const refused = await client.openX();
    expect(refused.status).toBe(503);
    expect(await refused.body()).toEqual({ title: 'ConnectionException' });
    expect((await client.openTap()).status).toBe(402);
    expect(await client.fired()).toEqual([1, 1]);
    expect((await client.openX()).status).toBe(200);
    expect((await client.openTap()).status).toBe(200);
  });

  test('stream_stall keeps the socket open and sends nothing, not even keep-alives', async () => {
    await using fast = await startSandbox({ speed: 1_000, ruleDelayMs: 0, rateLimits: false });
    const other = createClient(fast);
    await other.addXRules('ice');
    const stream = await other.openX();
    expect(await stream.line()).toBe('');
    expect(await other.arm({ kind: 'stream_stall' })).toMatchObject({ fired: 1 });
    // Lines in flight may still arrive. A stream that continues would fill the list.
    const received: unknown[] = [];
    while (received.length < 50 && received.at(-1) !== 'silence') {
      received.push(await Promise.race([stream.line(), wait(300, 'silence')]));
    }
    expect(received.at(-1)).toBe('silence');
    expect(at((await other.control('GET', '/x/state')).body, 'connections')).toEqual({ open: 1, stalled: 1 });
  });

  test('duplicate_delivery sends the next records twice', async () => {
    await addX('ice');
    await addTap('title:ice');
    const x = await client.openX();
    const tap = await client.openTap();
    await client.arm({ kind: 'duplicate_delivery', count: 2 });
    await client.post('ice 1', 'ice 2');
    const texts = [await x.record(), await x.record(), await x.record(), await x.record()];
    expect(texts.map((record) => at(record, 'data', 'text'))).toEqual(['ice 1', 'ice 1', 'ice 2', 'ice 2']);
    expect(await client.fired()).toEqual([2]);
    await client.arm({ kind: 'duplicate_delivery', platform: 'firehose' });
    const [id] = await client.page('ice');
    await tap.frame();
    expect([(await tap.frame())?.id, (await tap.frame())?.id]).toEqual([id, id]);
  });

  test('split_chunks cuts records at any byte, in order, and loses nothing', async () => {
    await addX('ice');
    const stream = await client.openX();
    await client.arm({ kind: 'split_chunks', platform: 'x', count: 20 });
    const texts = Array.from({ length: 25 }, (_, index) => `ice ${index} 🚀 はやぶさ ${'ü'.repeat(30)}`);
    await client.post(...texts);
    const got: unknown[] = [];
    while (got.length < texts.length) got.push(at(await stream.record(), 'data', 'text'));
    expect(got).toEqual(texts);
    expect(stream.chunks.length).toBeGreaterThan(25);
    const isInsideCharacter = (chunk: Uint8Array) => ((chunk[0] ?? 0) & 0xc0) === 0x80;
    expect(stream.chunks.some(isInsideCharacter)).toBe(true);
    expect(await client.fired()).toEqual([20]);
  });
});

test('faults can be armed together, listed and cleared', async () => {
  await client.control('POST', '/faults', {
    faults: [{ kind: 'stream_status' }, { kind: 'rules_status', count: null }],
  });
  expect((await client.control('GET', '/faults')).body).toMatchObject({
    faults: [
      { id: '1', kind: 'stream_status', remaining: 1, fired: 0 },
      { id: '2', kind: 'rules_status', remaining: null, fired: 0 },
    ],
  });
  await client.control('DELETE', '/faults');
  expect((await addX('ice')).status).toBe(201);
  expect(await client.fired()).toEqual([]);
});

test('an unknown kind is refused', async () => {
  expect((await client.control('POST', '/faults', { kind: 'gremlins' })).status).toBe(400);
});
