import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { EventBatch, EventStream, ServerEvent } from '../accounts/call.ts';
import { eventStreamHeaders, type SendEventsOptions, sendEvents } from './sse-writer.ts';

/** A real connection whose client reads only when the test wants it. */
let client: Socket;
let response: ServerResponse;
let stack: AsyncDisposableStack;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  const server = createServer().listen(0, '127.0.0.1');
  stack.defer(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  client = connect(port, '127.0.0.1');
  stack.defer(() => void client.destroy());
  client.write('GET / HTTP/1.1\r\nhost: e\r\n\r\n');
  [, response] = await once(server, 'request');
  response.writeHead(200, eventStreamHeaders);
});
afterEach(() => stack.disposeAsync());

interface Source extends EventStream {
  readonly takes: () => number;
}

/** Always returns the same batch, or nothing. */
function source(batch: readonly ServerEvent[]): Source {
  let takes = 0;
  return {
    takes: () => takes,
    take() {
      takes += 1;
      return batch.length > 0
        ? new Promise((resolve) => setImmediate(() => resolve({ events: batch })))
        : { events: batch };
    },
    onMore: () => undefined,
    [Symbol.dispose]: () => undefined,
  };
}

const event = (data: string): ServerEvent => ({ id: 'c1', event: 'match', data });
const large = event('x'.repeat(64 * 1024));

function send(stream: EventStream, options: Partial<SendEventsOptions> = {}) {
  const { signal } = new AbortController();
  return sendEvents(response, stream, { signal, keyEnded: signal, ...options });
}

async function fullBuffer(): Promise<void> {
  while (!response.socket?.writableNeedDrain) await new Promise((resolve) => setImmediate(resolve));
}

async function receive(until: string): Promise<string> {
  let text = '';
  for await (const chunk of client) {
    text += String(chunk);
    if (text.includes(until)) break;
  }
  return text;
}

test('an event has an id, a name and data, after the reconnection time', async () => {
  const sending = send(source([event('{"a":1}')]));
  const text = await receive('{"a":1}\n\n');
  expect(text).toContain('retry: 3000\n\n');
  expect(text).toContain('id: c1\nevent: match\ndata: {"a":1}\n\n');
  client.destroy();
  expect(await sending).toMatchObject({ ending: 'gone' });
});

test('no more is taken for a client that does not read, and it is disconnected', async () => {
  const stream = source([large]);
  client.pause();
  const sending = send(stream, { drainWithinMs: 500 });
  const { ending } = await sending;
  expect(ending).toBe('slow');
  expect(response.destroyed).toBe(true);
  // What the kernel buffers for the client, and one event beyond it.
  const takesAtTheEnd = stream.takes();
  expect(takesAtTheEnd).toBeLessThan(200);
  expect(response.writableLength).toBeLessThan(1024 * 1024);
});

test('a client that stops reading for a while and continues gets everything', async () => {
  const stream = source([large]);
  client.pause();
  const sending = send(stream, { drainWithinMs: 60_000 });
  await fullBuffer();
  const heldUpAt = stream.takes();
  let bytes = 0;
  for await (const chunk of client.resume()) {
    bytes += Buffer.from(chunk).length;
    if (bytes > (heldUpAt + 20) * 64 * 1024) break;
  }
  expect(stream.takes()).toBeGreaterThan(heldUpAt);
  client.destroy();
  expect(await sending).toMatchObject({ ending: 'gone' });
});

test('more than 1 MiB at once is too much for a client that does not read', async () => {
  client.pause();
  const { ending } = await send(source([event('x'.repeat(16 * 1024 * 1024))]), { drainWithinMs: 60_000 });
  expect(ending).toBe('slow');
});

test('a client that disconnects while its buffer is full ends the stream', async () => {
  client.pause();
  const sending = send(source([large]), { drainWithinMs: 60_000 });
  await fullBuffer();
  client.destroy();
  expect(await sending).toMatchObject({ ending: 'gone' });
});

test('a node that shuts down ends the answer properly, and disconnects clients that do not read', async () => {
  const leaving = new AbortController();
  const sending = send(source([]), { signal: leaving.signal });
  leaving.abort();
  expect(await sending).toEqual({ ending: 'leaving' });
  expect(await receive('never')).toContain('retry: 3000\n\n');
  expect(client.readableEnded).toBe(true);
});

test('a node that shuts down does not wait for a client whose buffer is full', async () => {
  const leaving = new AbortController();
  client.pause();
  const sending = send(source([large]), { signal: leaving.signal, drainWithinMs: 60_000 });
  await fullBuffer();
  leaving.abort();
  expect(await sending).toEqual({ ending: 'leaving' });
  expect(response.destroyed).toBe(true);
});

test('a key that becomes invalid ends its stream', async () => {
  const key = new AbortController();
  const sending = send(source([]), { signal: key.signal, keyEnded: key.signal });
  key.abort();
  expect(await sending).toEqual({ ending: 'key' });
});

test('a failure of the source ends the answer and is reported', async () => {
  const stream = { ...source([]), take: () => Promise.reject(new Error('broken')) };
  expect(await send(stream)).toMatchObject({ ending: 'failed', err: new Error('broken') });
});

test('a failure while something is sent at once ends the answer as well', async () => {
  const { stream, ring } = ringing();
  const sending = send(stream);
  ring(new Error('broken'));
  expect(await sending).toMatchObject({ ending: 'failed', err: new Error('broken') });
});

/** Returns the events of each wake-up, at once. */
function ringing() {
  let wake = () => undefined as void;
  const come: (readonly ServerEvent[] | Error)[] = [];
  const stream: EventStream = {
    take() {
      const next = come.shift() ?? [];
      if (next instanceof Error) throw next;
      return { events: next };
    },
    onMore(called) {
      wake = called;
    },
    [Symbol.dispose]: () => undefined,
  };
  const ring = (next: readonly ServerEvent[] | Error) => {
    come.push(next);
    wake();
  };
  return { stream, ring };
}

test('events are passed to the kernel before the wake-up returns', async () => {
  const { stream, ring } = ringing();
  void send(stream);
  await receive('retry: 3000\n\n');
  const before = response.socket?.bytesWritten ?? 0;
  ring([event('{"a":1}'), event('{"a":2}')]);
  const text = 'id: c1\nevent: match\ndata: {"a":1}\n\nid: c1\nevent: match\ndata: {"a":2}\n\n';
  expect(response.socket?.bytesWritten).toBe(before + text.length);
  expect(response.socket?.writableLength).toBe(0);
});

test('a wake-up while the client does not read is not lost', async () => {
  const { stream, ring } = ringing();
  // A comment would make it poll.
  void send(stream, { drainWithinMs: 60_000, commentEveryMs: 1_000_000 });
  client.pause();
  while (!response.socket?.writableNeedDrain) ring([large]);
  ring([event('the last one')]);
  client.resume();
  expect(await receive('the last one')).toContain('the last one');
});

test('a wake-up during a read makes it poll again', async () => {
  const reads: ((batch: EventBatch) => void)[] = [];
  let wake = () => undefined as void;
  void send({
    take: () => new Promise<EventBatch>((resolve) => reads.push(resolve)),
    onMore(called) {
      wake = called;
    },
    [Symbol.dispose]: () => undefined,
  });
  wake();
  reads[0]?.({ events: [] });
  await vi.waitFor(() => expect(reads).toHaveLength(2));
  reads[1]?.({ events: [] });
  await new Promise((resolve) => setImmediate(resolve));
  expect(reads).toHaveLength(2);
});

test('the silence begins after the last event', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { stream, ring } = ringing();
  void send(stream, { commentEveryMs: 200 });
  for (let n = 1; n <= 5; n++) {
    vi.advanceTimersByTime(150);
    ring([event(`${n}`)]);
  }
  vi.advanceTimersByTime(250);
  expect(await receive(':\n\n')).toMatch(/data: 5\n\n:\n\n$/);
});

test('silence is filled with comments also during a read', async () => {
  void send({ ...source([]), take: () => new Promise(() => undefined) }, { commentEveryMs: 10 });
  expect(await receive(':\n\n:\n\n')).toContain(':\n\n:\n\n');
});

test('other streams are served beside one that always has more', async () => {
  let taken = 0;
  const stream = { ...source([]), take: () => ({ events: [event(`${taken++}`)] }) };
  client.resume();
  const leaving = new AbortController();
  const sending = send(stream, { signal: leaving.signal });
  expect(taken).toBeLessThan(20);
  setImmediate(() => leaving.abort());
  expect(await sending).toEqual({ ending: 'leaving' });
});
