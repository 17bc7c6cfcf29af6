import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Sandbox, startSandbox } from '../src/index.ts';
import { at, createClient, eventually, type LineStream, textAt } from './client.ts';

vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 });

let sandbox: Sandbox;
let client: ReturnType<typeof createClient>;

beforeEach(async () => {
  sandbox = await startSandbox();
  client = createClient(sandbox);
});
afterEach(() => sandbox.close());

const state = async () => (await client.control('GET', '/firehose/state')).body;

/** Frames until the stream ends or as many updates came as asked for. */
async function readUpdates(stream: LineStream, count: number): Promise<Array<string | undefined>> {
  const ids: Array<string | undefined> = [];
  while (ids.length < count) {
    const frame = await stream.frame();
    if (frame === undefined) break;
    if (frame.event === 'update') ids.push(frame.id);
  }
  return ids;
}

describe('the stream', () => {
  test('begins with connected, sends updates with ids and ends at the timeout', async () => {
    await using fast = await startSandbox({ speed: 1_000 });
    const other = createClient(fast);
    const solar = await other.addTapRule('title:solar');
    const wind = await other.addTapRule('added:wind', { tag: 'w' });
    const stream = await other.openTap();
    expect(stream.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(await stream.frame()).toEqual({ event: 'connected', id: undefined, data: {} });
    const { body } = await other.control('POST', '/firehose/pages', {
      url: 'https://www.news.example/a/1',
      title: 'Solar overtakes gas',
      language: 'en',
      publish_time: new Date().toISOString().slice(0, 19),
      page_category: [],
      domain_rating: 70,
      chunks: [{ typ: 'ins', text: 'Sales of wind turbines …' }],
    });
    expect(await stream.frame()).toEqual({
      event: 'update',
      id: at(body, 'pages', 0, 'events', 0, 'event_id'),
      data: {
        tap_id: expect.any(String),
        query_ids: [solar, wind],
        matched_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
        document: {
          url: 'https://www.news.example/a/1',
          title: 'Solar overtakes gas',
          publish_time: expect.any(String),
          language: 'en',
          domain_rating: 70,
          diff: { chunks: [{ typ: 'ins', text: 'Sales of wind turbines …' }] },
        },
      },
    });
    expect(await stream.frame()).toEqual({ event: 'end', id: undefined, data: {} });
    expect(await stream.frame()).toBeUndefined();
  });

  test('reports a tap without rules inside a stream that opened well', async () => {
    const stream = await client.openTap();
    expect(stream.status).toBe(200);
    expect((await stream.frame())?.event).toBe('connected');
    const error = await stream.frame();
    expect(error?.event).toBe('error');
    expect(at(error?.data, 'message')).toMatch(/^No rules configured/);
    expect(await stream.frame()).toBeUndefined();
  });

  test('sends every event to each of several connections', async () => {
    await client.addTapRule('title:fjord');
    const one = await client.openTap();
    const two = await client.openTap();
    const ids = await client.page('fjord');
    expect(await readUpdates(one, 1)).toEqual(ids);
    expect(await readUpdates(two, 1)).toEqual(ids);
  });

  test('applies new rules and drops deleted rules while it is open', async () => {
    const first = await client.addTapRule('title:fjord');
    const stream = await client.openTap();
    await client.addTapRule('title:ice');
    await client.tap('DELETE', `/v1/rules/${first}`);
    await client.page('fjord');
    const ids = await client.page('ice');
    expect(await readUpdates(stream, 1)).toEqual(ids);
  });

  test('refuses parameters out of range with 422', async () => {
    await client.addTapRule('title:fjord');
    for (const query of [
      'timeout=0',
      'timeout=301',
      'limit=0',
      'limit=10001',
      'since=25h',
      'since=soon',
      'offset=x',
    ]) {
      const { status } = await client.openTap(`?${query}`);
      expect([query, status]).toEqual([query, 422]);
    }
  });

  test('takes 30 connections a minute, then answers 429 with Retry-After', async () => {
    for (let call = 0; call < 30; call += 1) expect((await client.openTap()).status).toBe(200);
    const refused = await client.openTap();
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test('delivers a long replay to a slow reader', async () => {
    await client.addTapRule('title:fjord');
    // Well beyond what socket buffers can hold.
    const pages = Array.from({ length: 1_000 }, (_, index) => ({
      url: `https://news.example/${index}`,
      title: 'fjord',
      chunks: [{ typ: 'ins', text: `${index} ${'x'.repeat(30_000)}` }],
    }));
    await client.control('POST', '/firehose/pages', { pages });
    const stream = await client.openTap('?since=1h');
    expect((await stream.frame())?.event).toBe('connected');
    expect(at(await state(), 'metering', 'events_delivered')).toBeLessThan(1_000);
    expect(await readUpdates(stream, 1_000)).toHaveLength(1_000);
  });
});

describe('the start position', () => {
  test('prefers Last-Event-ID to offset, offset to since', async () => {
    await client.addTapRule('title:fjord');
    const ids = await client.page('fjord 1', 'fjord 2', 'fjord 3');
    const offset = String(ids[1]).slice(2);
    const bySince = await client.openTap('?since=1h');
    expect(await readUpdates(bySince, 3)).toEqual(ids);
    const byOffset = await client.openTap(`?since=1h&offset=${offset}`);
    expect(await readUpdates(byOffset, 2)).toEqual(ids.slice(1));
    const byId = await client.openTap(`?since=1h&offset=${offset}`, { 'last-event-id': String(ids[1]) });
    expect(await readUpdates(byId, 1)).toEqual(ids.slice(2));
  });

  test('is the live tail by default, and ignores a malformed Last-Event-ID', async () => {
    await client.addTapRule('title:fjord');
    await client.page('fjord before');
    const stream = await client.openTap('', { 'last-event-id': 'yesterday' });
    const live = await client.page('fjord after');
    expect(await readUpdates(stream, 1)).toEqual(live);
  });

  test('resumes across a cut without a gap and without a repeat', async () => {
    await client.addTapRule('title:fjord');
    const stream = await client.openTap();
    const first = await client.page('fjord 1', 'fjord 2');
    const seen = await readUpdates(stream, 2);
    await client.arm({ kind: 'stream_cut', platform: 'firehose' });
    await stream.ended();
    const second = await client.page('fjord 3', 'fjord 4');
    const resumed = await client.openTap('', { 'last-event-id': String(seen.at(-1)) });
    seen.push(...(await readUpdates(resumed, 2)));
    expect(seen).toEqual([...first, ...second]);
    expect(await client.fired()).toEqual([1]);
  });

  test('forgets events after 24 hours of service time', async () => {
    await using fast = await startSandbox({ speed: 200_000, rateLimits: false });
    const other = createClient(fast);
    await other.addTapRule('title:fjord');
    await other.page('fjord');
    const buffered = async () => at((await other.control('GET', '/firehose/state')).body, 'events_in_buffer');
    expect(await buffered()).toBe(1);
    await eventually(buffered, (count) => count === 0);
    await other.page('fjord new');
    expect(await buffered()).toBe(1);
  });
});

describe('credit', () => {
  test('is used up by the first delivery of a page and not by its replay', async () => {
    await client.addTapRule('title:fjord');
    await client.page('fjord 1', 'fjord 2');
    await readUpdates(await client.openTap('?since=1h'), 2);
    await readUpdates(await client.openTap('?since=1h'), 2);
    expect(await state()).toMatchObject({
      balance_usd: 9_999.99,
      metering: { events_delivered: 4, matches_charged: 2, bill_usd: 0.01 },
    });
  });

  test('the bill names the pages of each day, once for each tap that delivered them', async () => {
    const other = textAt(
      (await client.call('POST', '/v1/taps', 'fhm_sandbox', { name: 'other' })).body,
      'token',
    );
    await client.addTapRule('title:fjord');
    await client.call('POST', '/v1/rules', other, { value: 'title:fjord' });
    await client.page('fjord 1', 'fjord 2', 'fjord 3');
    await readUpdates(await client.openTap('?since=1h'), 3);
    // A replay: `limit` counts it, the bill does not.
    const replay = await client.openTap('?since=1h&limit=2');
    await readUpdates(replay, 2);
    expect((await replay.frame())?.event).toBe('end');
    await readUpdates(await client.openTap('?since=1h&limit=2', {}, other), 2);
    const date = new Date().toISOString().slice(0, 10);
    const bill = async (token: string) => (await client.control('GET', `/firehose/bill?token=${token}`)).body;
    expect(await bill('fh_sandbox')).toEqual({
      token: 'fh_sandbox',
      days: [{ date, pages: 3, micro_usd: 15_000 }],
      total: { pages: 3, micro_usd: 15_000 },
      events_delivered: 5,
      balance_micro_usd: 10_000_000_000 - 25_000,
    });
    expect(await bill(other)).toMatchObject({ total: { pages: 2, micro_usd: 10_000 }, events_delivered: 2 });
  });

  test('at zero refuses new connections with 402 and keeps open ones', async () => {
    await client.addTapRule('title:fjord');
    const stream = await client.openTap();
    await client.control('POST', '/firehose/balance', { usd: 0 });
    expect((await client.openTap()).status).toBe(402);
    const ids = await client.page('fjord');
    expect(await readUpdates(stream, 1)).toEqual(ids);
    expect((await client.tap('GET', '/v1/rules')).status).toBe(200);
  });
});
