import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Sandbox, startSandbox } from '../src/index.ts';
import { at, createClient, eventually, listAt, textAt } from './client.ts';

vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 });

let sandbox: Sandbox;
let client: ReturnType<typeof createClient>;

beforeEach(async () => {
  sandbox = await startSandbox({ ruleDelayMs: 0, rateLimits: false });
  client = createClient(sandbox);
  await client.addXRules('ice');
  await client.addTapRule('title:ice');
});
afterEach(() => sandbox.close());

const xState = async () => (await client.control('GET', '/x/state')).body;
const textOf = (record: unknown) => at(record, 'data', 'text');

describe('records on the wire', () => {
  test('merge_chunks sends a record and the next one in one chunk', async () => {
    const stream = await client.openX();
    await client.arm({ kind: 'merge_chunks', platform: 'x', count: 2 });
    await client.post('ice 1');
    await client.post('ice 2');
    await client.post('ice 3');
    const texts = [await stream.record(), await stream.record(), await stream.record()].map(textOf);
    expect(texts).toEqual(['ice 1', 'ice 2', 'ice 3']);
    expect(stream.chunks.filter((chunk) => chunk.length > 2)).toHaveLength(1);
    expect(await client.fired()).toEqual([2]);
  });

  test('split_line_end sends the line end of a record alone', async () => {
    const stream = await client.openX();
    await client.arm({ kind: 'split_line_end', platform: 'x' });
    await client.post('ice');
    expect(textOf(await stream.record())).toBe('ice');
    expect(stream.chunks.map((chunk) => new TextDecoder().decode(chunk))).toContain('\r\n');
    expect(await client.fired()).toEqual([1]);
  });

  test('out_of_order sends a record after the next one', async () => {
    const [x, tap] = [await client.openX(), await client.openTap()];
    await client.arm({ kind: 'out_of_order', count: 2 });
    await client.post('ice 1', 'ice 2');
    expect([textOf(await x.record()), textOf(await x.record())]).toEqual(['ice 2', 'ice 1']);
    const ids = await client.page('ice 1', 'ice 2');
    await tap.frame();
    expect([(await tap.frame())?.id, (await tap.frame())?.id]).toEqual(ids.toReversed());
    expect(await client.fired()).toEqual([2]);
  });

  test('unknown_message and not_json send an invalid record before a record', async () => {
    const [x, tap] = [await client.openX(), await client.openTap()];
    await client.arm({ kind: 'unknown_message', count: 2 });
    await client.post('ice');
    expect(await x.record()).toEqual({ meta: { kind: 'surprise' } });
    expect(textOf(await x.record())).toBe('ice');
    const [id] = await client.page('ice');
    await tap.frame();
    expect((await tap.frame())?.event).toBe('surprise');
    expect((await tap.frame())?.id).toBe(id);
    await client.arm({ kind: 'not_json', platform: 'x' });
    await client.post('ice again');
    expect(await x.line()).toBe('{"data":{"id":');
    expect(textOf(await x.record())).toBe('ice again');
    expect(await client.fired()).toEqual([2, 1]);
  });

  test('big_frame makes a frame of the given size, 5 MiB by default', async () => {
    const [x, tap] = [await client.openX(), await client.openTap()];
    await client.arm({ kind: 'big_frame', platform: 'x' });
    await client.post('ice');
    expect(String(textOf(await x.record()))).toHaveLength(5 * 1024 * 1024);
    expect(textOf(await x.record())).toBe('ice');
    await client.arm({ kind: 'big_frame', platform: 'firehose', bytes: 100_000 });
    await client.page('ice');
    await tap.frame();
    expect(textAt((await tap.frame())?.data, 'document', 'markdown')).toHaveLength(100_000);
  });

  test('an edit is a separate post with the history of both', async () => {
    const stream = await client.openX();
    const [first] = await client.post('ice');
    const id = textAt(first, 'id');
    const edited = String(BigInt(id) + 1n);
    await client.control('POST', '/x/posts', {
      posts: [{ id: edited, text: 'ice, edited', edit_history_tweet_ids: [id, edited] }],
    });
    await stream.record();
    const record = await stream.record();
    expect(at(record, 'data', 'edit_history_tweet_ids')).toEqual([id, edited]);
  });
});

describe('ends of a stream', () => {
  test.each(['stream_cut', 'stream_reset', 'stream_eof'])('%s ends every open stream', async (kind) => {
    const streams = [await client.openX(), await client.openTap()];
    expect(await client.arm({ kind })).toMatchObject({ fired: 2 });
    await Promise.all(streams.map((stream) => stream.ended()));
    expect((await client.openX()).status).toBe(200);
  });

  test('stream_empty answers 200 and ends without a byte', async () => {
    await client.arm({ kind: 'stream_empty', count: 2 });
    for (const stream of [await client.openX(), await client.openTap()]) {
      expect(stream.status).toBe(200);
      await stream.ended();
      expect(stream.chunks).toEqual([]);
    }
    expect(await client.fired()).toEqual([2]);
  });

  test('stream_control sends X clients the reason, and closes', async () => {
    const stream = await client.openX();
    const disconnect_type = 'UpstreamOperationalDisconnect';
    await client.arm({ kind: 'stream_control', platform: 'x', disconnect_type });
    expect(await stream.record()).toMatchObject({ errors: [{ disconnect_type }] });
    expect(await stream.record()).toBeUndefined();
  });

  test('stream_control accepts a whole body, such as a reached cap', async () => {
    const stream = await client.openX();
    const body = { title: 'UsageCapExceeded', type: 'https://api.x.com/2/problems/usage-capped' };
    await client.arm({ kind: 'stream_control', platform: 'x', body });
    expect(await stream.record()).toEqual(body);
  });

  test('stream_control with hang leaves the socket open and dead', async () => {
    const stream = await client.openX();
    await client.arm({ kind: 'stream_control', platform: 'x', hang: true });
    expect(await stream.record()).toMatchObject({ errors: [{}] });
    await client.post('ice');
    expect(await Promise.race([stream.record(), wait(300, 'silence')])).toBe('silence');
    expect(at(await xState(), 'connections')).toEqual({ open: 1, stalled: 1 });
  });

  test('stream_control sends Firehose clients an error event', async () => {
    const stream = await client.openTap();
    await client.arm({ kind: 'stream_control', platform: 'firehose', message: 'maintenance' });
    await stream.frame();
    expect(await stream.frame()).toMatchObject({ event: 'error', data: { message: 'maintenance' } });
    expect(await stream.frame()).toBeUndefined();
  });
});

describe('an open stream without items', () => {
  test('stream_mute continues keep-alives and sends no items', async () => {
    await using fast = await startSandbox({ speed: 1_000, ruleDelayMs: 0, rateLimits: false });
    const other = createClient(fast);
    await other.addXRules('ice');
    const stream = await other.openX();
    expect(await other.arm({ kind: 'stream_mute', platform: 'x' })).toMatchObject({ fired: 1 });
    const [post] = await other.post('ice');
    expect(at(post, 'delivered')).toBe(false);
    for (let keepAlive = 0; keepAlive < 5; keepAlive += 1) expect(await stream.line()).toBe('');
  });

  test('stuck_connection counts and lists a connection without a client until it is killed', async () => {
    await client.arm({ kind: 'stuck_connection', platform: 'x' });
    const stream = await client.openX();
    stream.close();
    await eventually(client.fired, ([fired]) => fired === 1);
    expect((await client.openX()).status).toBe(429);
    const { body } = await client.x('GET', '/2/connections?status=active&endpoints=filtered_stream');
    const uuids = listAt(body, 'data').map((one) => textAt(one, 'id'));
    expect(uuids).toHaveLength(1);
    await client.x('DELETE', '/2/connections', { uuids });
    expect((await client.openX()).status).toBe(200);
  });
});

test('the plan usage_cap refuses with X’s cap message', async () => {
  await client.control('POST', '/x/plan', { plan: 'usage_cap' });
  const refused = await client.openX();
  expect(refused.status).toBe(429);
  expect(await refused.body()).toMatchObject({ title: 'UsageCapExceeded', period: 'Monthly' });
});

test('aging the buffer of a tap removes events older than a day', async () => {
  const stream = await client.openTap();
  await client.page('ice 1');
  await stream.frame();
  const first = (await stream.frame())?.id ?? '';
  const [second] = await client.page('ice 2');
  await client.control('POST', '/firehose/age', { hours: 23 });
  const resumed = await client.openTap('', { 'last-event-id': first });
  await resumed.frame();
  expect((await resumed.frame())?.id).toBe(second);
  const { body } = await client.control('POST', '/firehose/age', { hours: 2 });
  expect(at(body, 'events_in_buffer')).toBe(0);
});
