import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../src/index.ts';
import { createBlueskyClient, eventsPath } from './bluesky-client.ts';
import { at, createClient } from './client.ts';

let sandbox: Sandbox;
let client: ReturnType<typeof createBlueskyClient>;

beforeEach(async () => {
  sandbox = await startSandbox({ ruleDelayMs: 0 });
  client = createBlueskyClient(sandbox);
});
afterEach(() => sandbox.close());

describe.each([
  ['version 2', eventsPath],
  ['version 1', '/subscribe'],
])('frames of %s', (_version, path) => {
  test('duplicate_delivery sends the next frames twice', async () => {
    const stream = await client.open('', path);
    await client.arm({ kind: 'duplicate_delivery', platform: 'bluesky', count: 2 });
    await client.post('one', 'two', 'three');
    expect(await stream.posts(5)).toEqual(['one', 'one', 'two', 'two', 'three']);
    expect(await client.fired()).toEqual([2]);
  });

  test('out_of_order sends a frame after the next one', async () => {
    const stream = await client.open('', path);
    await client.arm({ kind: 'out_of_order' });
    await client.post('one', 'two', 'three');
    expect(await stream.posts(3)).toEqual(['two', 'one', 'three']);
    expect(await client.fired()).toEqual([1]);
  });

  test('unknown_message and not_json send an invalid frame before a frame', async () => {
    const stream = await client.open('', path);
    await client.arm({ kind: 'unknown_message' });
    await client.post('one');
    expect(JSON.stringify(await stream.frame())).toContain('surprise');
    expect(await stream.posts(1)).toEqual(['one']);
    await client.arm({ kind: 'not_json' });
    await client.post('two');
    const broken = await stream.text();
    expect(() => JSON.parse(broken ?? '{}')).toThrow(SyntaxError);
    expect(await stream.posts(1)).toEqual(['two']);
    expect(await client.fired()).toEqual([1, 1]);
  });

  test('big_frame makes a frame larger by the given bytes', async () => {
    const stream = await client.open('', path);
    await client.arm({ kind: 'big_frame', bytes: 6_000_000 });
    await client.post('one', 'two');
    expect((await stream.text())?.length).toBeGreaterThan(6_000_000);
    expect(await stream.posts(1)).toEqual(['two']);
    expect(await client.fired()).toEqual([1]);
  });

  test('split_chunks sends frames in fragments cut at any byte, in order, and loses nothing', async () => {
    const stream = await client.open('', path);
    let packets = 0;
    const texts = Array.from({ length: 25 }, (_, index) => `${index} 🚀 はやぶさ ${'ü'.repeat(30)}`);
    await client.arm({ kind: 'split_chunks', count: 20 });
    const raw = Reflect.get(stream.webSocket, '_socket');
    raw.on('data', () => {
      packets += 1;
    });
    await client.post(...texts);
    expect(await stream.posts(25)).toEqual(texts);
    expect(packets).toBeGreaterThan(25);
    expect(await client.fired()).toEqual([20]);
  });

  test('merge_chunks holds a frame until the next one', async () => {
    const stream = await client.open('', path);
    await client.arm({ kind: 'merge_chunks' });
    await client.post('one');
    expect(await Promise.race([stream.text(), wait(50, 'silence')])).toBe('silence');
    await client.post('two');
    expect(await stream.posts(1)).toEqual(['two']);
    expect(await client.fired()).toEqual([1]);
  });
});

describe('connections', () => {
  test('stream_status refuses the next connection before the upgrade', async () => {
    await client.arm({ kind: 'stream_status', platform: 'bluesky', status: 503, retry_after: 7 });
    const { status, headers, body } = await client.shake('');
    expect([status, headers['retry-after']]).toEqual([503, '7']);
    expect(JSON.parse(String(body))).toEqual({ error: 'ServiceUnavailable', message: expect.any(String) });
    expect((await client.open()).status).toBe(101);
    expect(await client.fired()).toEqual([1]);
  });

  test('stream_empty upgrades and closes without a frame', async () => {
    await client.post('one');
    await client.arm({ kind: 'stream_empty' });
    const stream = await client.open('?cursor=1');
    expect(stream.status).toBe(101);
    expect(await stream.text()).toBeUndefined();
    expect(await client.fired()).toEqual([1]);
    expect(await (await client.open('?cursor=1')).posts(1)).toEqual(['one']);
  });

  test.each([
    ['stream_cut', 1006],
    ['stream_reset', 1006],
    ['stream_eof', 1001],
  ])('%s ends every open connection with %d', async (kind, code) => {
    const streams = [await client.open(), await client.openFirst()];
    expect(await client.arm({ kind })).toMatchObject({ fired: 2 });
    const ends = await Promise.all(streams.map(({ end }) => end));
    expect(ends.map((end) => end.code)).toEqual([code, code]);
  });

  test('stream_control sends ConsumerTooSlow, or another error, and closes', async () => {
    const stream = await client.open();
    await client.arm({ kind: 'stream_control', platform: 'bluesky' });
    expect(await stream.frame()).toMatchObject({ $type: 'error', error: 'ConsumerTooSlow' });
    expect((await stream.end).code).toBe(1006);
    const other = await client.open();
    await client.arm({ kind: 'stream_control', error: 'InternalError', message: 'reconnect' });
    expect(await other.frame()).toEqual({ $type: 'error', error: 'InternalError', message: 'reconnect' });
  });

  test('stream_control with hang leaves the socket open and silent', async () => {
    const stream = await client.open();
    await client.arm({ kind: 'stream_control', hang: true });
    expect(await stream.frame()).toMatchObject({ $type: 'error' });
    expect(await client.connections()).toMatchObject({ open: 1, stalled: 1 });
  });

  test('stream_stall sends nothing, answers no ping and no close, and notices when its client is gone', async () => {
    await client.turn({ ping_ms: 10 });
    const stream = await client.open();
    await stream.ping();
    expect(await client.arm({ kind: 'stream_stall' })).toMatchObject({ fired: 1 });
    let isAnswered = false;
    stream.webSocket.on('pong', () => {
      isAnswered = true;
    });
    stream.webSocket.ping();
    await client.post('one');
    // Pings in flight may still arrive. A server that continues would fill the list.
    await wait(100);
    expect(stream.pings.length).toBeLessThan(5);
    stream.webSocket.close();
    expect(await Promise.race([stream.end, wait(50, 'silence')])).toBe('silence');
    expect(isAnswered).toBe(false);
    expect(stream.webSocket.readyState).toBe(stream.webSocket.CLOSING);
    expect(await client.connections()).toMatchObject({ open: 1, stalled: 1, list: [{ frames_sent: 0 }] });
    stream.close();
    await expect.poll(client.connections).toMatchObject({ open: 0 });
  });

  test('stream_mute continues pings and sends no frames', async () => {
    await client.turn({ ping_ms: 10 });
    const stream = await client.open();
    expect(await client.arm({ kind: 'stream_mute' })).toMatchObject({ fired: 1 });
    await client.post('one');
    for (let count = 0; count < 3; count += 1) await stream.ping();
    expect(at(await client.connections(), 'list', 0, 'frames_sent')).toBe(0);
  });

  test('a fault of another platform, or with a token, does not apply', async () => {
    const stream = await client.open();
    await client.arm({ kind: 'stream_cut', platform: 'x' });
    await client.arm({ kind: 'stream_cut', token: 'sandbox-x-token' });
    await client.arm({ kind: 'cursor_too_old', platform: 'firehose' });
    await client.post('one');
    expect(await stream.posts(1)).toEqual(['one']);
    expect(await (await client.open('?cursor=1')).posts(1)).toEqual(['one']);
    expect(await client.fired()).toEqual([0, 0, 0]);
  });

  test('a fault of Bluesky leaves the other platforms alone', async () => {
    const x = createClient(sandbox);
    await x.addXRules('ice');
    const stream = await x.openX();
    await client.arm({ kind: 'stream_cut', platform: 'bluesky' });
    await x.post('ice');
    expect(at(await stream.record(), 'data', 'text')).toBe('ice');
    stream.close();
  });
});
