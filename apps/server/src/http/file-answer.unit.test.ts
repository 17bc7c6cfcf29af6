import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import { eventually } from '@earshot/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { serverWith, testPrincipal, uncalledHandlers } from '../../test/http-server.ts';

const pieces = 2_000;
const piece = Buffer.alloc(64 * 1024, 'x');
/** Sockets on both sides buffer some MiB. */
const aheadMax = 500;

let stack: AsyncDisposableStack;
let taken: number;
let isClosed: boolean;
let url: string;

beforeEach(() => {
  stack = new AsyncDisposableStack();
  taken = 0;
  isClosed = false;
});
afterEach(() => stack.disposeAsync());

async function* file(): AsyncGenerator<Buffer> {
  try {
    for (; taken < pieces; taken++) yield piece;
  } finally {
    isClosed = true;
  }
}

/** The operation answers with a file of 125 MiB. */
async function start(options: { readonly buffers?: boolean; readonly breaks?: boolean } = {}) {
  const bytes = options.breaks
    ? async function* () {
        yield piece;
        throw new Error('the database is down');
      }
    : file;
  const highWaterMark = options.buffers ? Number.MAX_SAFE_INTEGER : piece.length;
  const server = serverWith({
    handlers: {
      ...uncalledHandlers,
      ExportMatches: async () => ({
        file: Readable.from(bytes(), { objectMode: false, highWaterMark }),
        headers: { 'content-type': 'text/csv' },
      }),
      WhoAmI: async () => ({ fine: true }) as never,
    },
    authenticate: async () => ({ ...testPrincipal, scopes: ['matches:read'] }),
  });
  stack.use(server);
  url = await server.listen('127.0.0.1', 0);
}

/** A client that has the headers and reads nothing. */
async function open(): Promise<IncomingMessage> {
  const sent = request(new URL('/api.ExportMatches', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
  });
  sent.end('{"format":"csv"}');
  const [response] = await once(sent, 'response');
  stack.defer(() => void sent.destroy());
  return response;
}

/** Waits until the server takes no more pieces. */
async function untilStill(): Promise<number> {
  for (let before = -1; ; await new Promise((resolve) => setTimeout(resolve, 200))) {
    if (taken === before) return taken;
    before = taken;
  }
}

test('a file is read only as fast as its client, and other requests are answered meanwhile', async () => {
  await start();
  const response = await open();
  expect(await untilStill()).toBeLessThan(aheadMax);
  expect((await fetch(new URL('/api.WhoAmI', url), { method: 'POST' })).status).toBe(200);
  let bytes = 0;
  for await (const chunk of response) bytes += chunk.length;
  expect(bytes).toBe(pieces * piece.length);
});

test('control: without backpressure the server reads the whole file for a client that does not read', async () => {
  await start({ buffers: true });
  await open();
  expect(await untilStill()).toBe(pieces);
});

test('a file is closed when its client leaves', async () => {
  await start();
  const response = await open();
  await untilStill();
  response.destroy();
  await eventually(() => expect(isClosed).toBe(true), { timeoutMs: 20_000 });
});

test('a file that fails has no proper end, so that the client knows', async () => {
  await start({ breaks: true });
  const response = await open();
  await expect(async () => {
    for await (const _ of response);
  }).rejects.toThrow('aborted');
});
