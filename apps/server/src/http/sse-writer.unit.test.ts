import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { EventStream, ServerEvent } from '../accounts/call.ts';
import { type SendEventsOptions, sendEvents } from './sse-writer.ts';

/** A real connection whose client reads only when it is told to. */
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
});
afterEach(() => stack.disposeAsync());

interface Source extends EventStream {
  readonly asked: () => number;
}

/** Gives the same batch for ever, or waits for ever when there is none. */
function source(batch: readonly ServerEvent[]): Source {
  let asked = 0;
  return {
    asked: () => asked,
    async nextEvents(waitMs, signal) {
      asked += 1;
      if (batch.length > 0) await new Promise((resolve) => setImmediate(resolve));
      else await silence(waitMs, signal);
      return batch;
    },
    [Symbol.dispose]: () => undefined,
  };
}

function silence(waitMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, waitMs);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

const event = (data: string): ServerEvent => ({ id: 'c1', event: 'match', data });
const large = event('x'.repeat(64 * 1024));

function send(stream: EventStream, options: Partial<SendEventsOptions> = {}) {
  const { signal } = new AbortController();
  return sendEvents(response, stream, { signal, keyEnded: signal, ...options });
}

async function receive(until: string): Promise<string> {
  let text = '';
  for await (const chunk of client) {
    text += String(chunk);
    if (text.includes(until)) break;
  }
  return text;
}

test('an event is its id, its name and its data, after the time to reconnect', async () => {
  const sending = send(source([event('{"a":1}')]));
  const text = await receive('{"a":1}\n\n');
  expect(text).toContain('retry: 3000\n\n');
  expect(text).toContain('id: c1\nevent: match\ndata: {"a":1}\n\n');
  client.destroy();
  expect(await sending).toMatchObject({ ending: 'gone' });
});

test('silence is filled with comments', async () => {
  void send(source([]), { commentEveryMs: 10 });
  expect(await receive(':\n\n')).toContain(':\n\n');
});

test('a client that takes nothing is asked for nothing more, holds little, and is closed', async () => {
  const stream = source([large]);
  client.pause();
  const sending = send(stream, { drainWithinMs: 500 });
  const { ending } = await sending;
  expect(ending).toBe('slow');
  expect(response.destroyed).toBe(true);
  // What the kernel takes for the client, and one event beyond it.
  const askedAtTheEnd = stream.asked();
  expect(askedAtTheEnd).toBeLessThan(200);
  expect(response.writableLength).toBeLessThan(1024 * 1024);
});

test('a client that stops for a while and goes on gets everything', async () => {
  const stream = source([large]);
  client.pause();
  const sending = send(stream, { drainWithinMs: 60_000 });
  await new Promise<void>((resolve) => {
    const look = () => (response.writableNeedDrain ? resolve() : setImmediate(look));
    look();
  });
  const heldUpAt = stream.asked();
  let bytes = 0;
  for await (const chunk of client.resume()) {
    bytes += Buffer.from(chunk).length;
    if (bytes > (heldUpAt + 20) * 64 * 1024) break;
  }
  expect(stream.asked()).toBeGreaterThan(heldUpAt);
  client.destroy();
  expect(await sending).toMatchObject({ ending: 'gone' });
});

test('more than 1 MiB at once is too much for a client that takes nothing', async () => {
  client.pause();
  const { ending } = await send(source([event('x'.repeat(16 * 1024 * 1024))]), { drainWithinMs: 60_000 });
  expect(ending).toBe('slow');
});

test('a client that goes while its buffer is full ends the stream', async () => {
  client.pause();
  const sending = send(source([large]), { drainWithinMs: 60_000 });
  await new Promise<void>((resolve) => {
    const look = () => (response.writableNeedDrain ? resolve() : setImmediate(look));
    look();
  });
  client.destroy();
  expect(await sending).toMatchObject({ ending: 'gone' });
});

test('a node that leaves ends the answer properly, and cuts off whoever takes nothing', async () => {
  const leaving = new AbortController();
  const sending = send(source([]), { signal: leaving.signal });
  leaving.abort();
  expect(await sending).toEqual({ ending: 'leaving' });
  expect(await receive('\r\n0\r\n\r\n')).toContain('\r\n0\r\n\r\n');
});

test('a node that leaves does not wait for a client whose buffer is full', async () => {
  const leaving = new AbortController();
  client.pause();
  const sending = send(source([large]), { signal: leaving.signal, drainWithinMs: 60_000 });
  await new Promise<void>((resolve) => {
    const look = () => (response.writableNeedDrain ? resolve() : setImmediate(look));
    look();
  });
  leaving.abort();
  expect(await sending).toEqual({ ending: 'leaving' });
  expect(response.destroyed).toBe(true);
});

test('a key that works no more ends its stream', async () => {
  const key = new AbortController();
  const sending = send(source([]), { signal: key.signal, keyEnded: key.signal });
  key.abort();
  expect(await sending).toEqual({ ending: 'key' });
});

test('a failure of the source ends the answer and is told', async () => {
  const stream = { ...source([]), nextEvents: () => Promise.reject(new Error('broken')) };
  expect(await send(stream)).toMatchObject({ ending: 'failed', err: new Error('broken') });
});
