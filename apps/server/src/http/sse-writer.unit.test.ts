import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { EventStream, ServerEvent } from '../accounts/call.ts';
import { type SendEventsOptions, sendEvents } from './sse-writer.ts';

/** A real connection whose client reads only when it is told to. */
let server: Server;
let client: Socket;
let response: ServerResponse;
let stack: AsyncDisposableStack;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  server = createServer().listen(0, '127.0.0.1');
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

/** Gives the batch, then ends. */
function createOnce(batch: readonly ServerEvent[], end: () => void): EventStream['nextEvents'] {
  let given = false;
  return async () => {
    if (given) end();
    given = true;
    return batch;
  };
}

/** What a body is without the frames of its chunks. */
function unchunked(body: string): string {
  const size = Number.parseInt(body, 16);
  const at = body.indexOf('\r\n') + 2;
  expect(body.slice(at + size, at + size + 2)).toBe('\r\n');
  return size === 0 ? '' : body.slice(at, at + size) + unchunked(body.slice(at + size + 2));
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

test.for([
  { version: '1.1', plain: unchunked },
  { version: '1.0', plain: (body: string) => body },
])('a client that speaks HTTP/$version gets what was sent, and its end', async ({ version, plain }) => {
  const texts = ['{"a":"ä"}', `{"b":"${'x'.repeat(300)}"}`];
  const speaking = connect(Number(client.remotePort), '127.0.0.1').setEncoding('latin1');
  stack.defer(() => void speaking.destroy());
  speaking.write(`GET / HTTP/${version}\r\nhost: e\r\nconnection: close\r\n\r\n`);
  [, response] = await once(server, 'request');
  const leaving = new AbortController();
  const nextEvents = createOnce(texts.map(event), () => leaving.abort());
  void send({ nextEvents, [Symbol.dispose]: () => undefined }, { signal: leaving.signal });
  let got = '';
  for await (const text of speaking) got += String(text);
  const body = plain(got.slice(got.indexOf('\r\n\r\n') + 4));
  const events = texts.map((text) => `id: c1\nevent: match\ndata: ${text}\n\n`);
  expect(Buffer.from(body, 'latin1').toString()).toBe(`retry: 3000\n\n${events.join('')}`);
});

test('an answer waits for the one to an earlier request on its connection', async () => {
  const later = connect(Number(client.remotePort), '127.0.0.1');
  stack.defer(() => void later.destroy());
  const requests: ServerResponse[] = [];
  server.on('request', (_request, one) => requests.push(one));
  later.write('GET /1 HTTP/1.1\r\nhost: e\r\n\r\nGET /2 HTTP/1.1\r\nhost: e\r\n\r\n');
  while (requests.length < 2) await once(server, 'request');
  const [first, second] = requests;
  if (!first || !second) throw new Error('two requests were expected');
  const { signal } = new AbortController();
  let asked = 0;
  const held = Promise.withResolvers<void>();
  const nextEvents = async () => {
    asked += 1;
    if (asked === 3) held.resolve();
    return asked < 3 ? [event(`{"n":${asked}}`)] : await new Promise<never>(() => undefined);
  };
  void sendEvents(second, { nextEvents, [Symbol.dispose]: () => undefined }, { signal, keyEnded: signal });
  await held.promise;
  first.end('first');
  let text = '';
  for await (const chunk of later) {
    text += String(chunk);
    if (text.includes('{"n":2}\n\n')) break;
  }
  expect(text.match(/first|retry: 3000|"n":\d/g)).toEqual(['first', 'retry: 3000', '"n":1', '"n":2']);
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
    const look = () => (response.socket?.writableNeedDrain ? resolve() : setImmediate(look));
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
    const look = () => (response.socket?.writableNeedDrain ? resolve() : setImmediate(look));
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
    const look = () => (response.socket?.writableNeedDrain ? resolve() : setImmediate(look));
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
