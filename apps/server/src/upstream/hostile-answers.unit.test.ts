import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { listenOnLoopback } from '@earshot/testkit';
import { expect, test } from 'vitest';
import { createUpstreamClient } from './client.ts';
import { createFirehoseRules } from './firehose/rules.ts';
import { type UpstreamCall, UpstreamUnavailable } from './upstream-rules.ts';
import { StreamEnded } from './upstream-stream.ts';
import { createXRules } from './x/rules.ts';
import { createXStream } from './x/stream.ts';

const mebibyte = 1024 * 1024;
const call: UpstreamCall = { signal: new AbortController().signal, permit: () => Promise.resolve() };

/** A platform that answers each call this way. */
async function startUpstream(
  answer: (response: ServerResponse, request: IncomingMessage) => void,
  { bodyWithinMs }: { bodyWithinMs?: number } = {},
) {
  await using stack = new AsyncDisposableStack();
  const server = createServer((request, response) => answer(response, request));
  const port = await listenOnLoopback(server);
  stack.defer(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const baseUrl = `http://127.0.0.1:${port}`;
  const patience = bodyWithinMs === undefined ? {} : { bodyWithinMs };
  const client = stack.use(createUpstreamClient({ baseUrl, token: 't', name: 'It', ...patience }));
  const all = stack.move();
  return {
    client,
    rules: { x: createXRules(client), firehose: createFirehoseRules(client) },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

const hugeBytes = 256 * mebibyte;

/** Writes far too much for as long as it is read; returns the size and when reading stopped. */
function hugely(status = 200) {
  const piece = Buffer.alloc(256 * 1024, 'x');
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const sent = { bytes: 0, closed };
  const answer = (response: ServerResponse) => {
    response.writeHead(status).on('close', resolve);
    const more = () => {
      do sent.bytes += piece.length;
      while (response.write(piece) && sent.bytes < hugeBytes);
      if (sent.bytes >= hugeBytes) response.end();
    };
    response.on('drain', more);
    more();
  };
  return { sent, answer };
}

test.each([
  ['x', 16 * mebibyte],
  ['firehose', 64 * mebibyte],
] as const)('a huge rule list of %s is an error after %i bytes', async (platform, bytesMax) => {
  const { sent, answer } = hugely();
  await using upstream = await startUpstream(answer);
  await expect(upstream.rules[platform].list(call)).rejects.toThrow(
    new UpstreamUnavailable(`It sent an answer of more than ${bytesMax} bytes`),
  );
  await sent.closed;
  // Socket buffers add to this.
  expect(sent.bytes).toBeLessThan(bytesMax + 16 * mebibyte);
});

test('a slow answer is an error after its time limit', async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const answer = (response: ServerResponse) => {
    response.writeHead(200);
    const drip = setInterval(() => response.write(' '), 20);
    response.on('close', () => {
      clearInterval(drip);
      resolve();
    });
  };
  await using upstream = await startUpstream(answer, { bodyWithinMs: 500 });
  await expect(upstream.rules.x.list(call)).rejects.toThrow(
    'It sent an answer that did not end within 500 ms',
  );
  await closed;
});

test.each([
  ['nested_too_deep', '['.repeat(6_000) + ']'.repeat(6_000)],
  ['too_large', `[${'{},'.repeat(300_000)}1]`],
])('an answer that is %s is an error', async (what, text) => {
  await using upstream = await startUpstream((response) => response.end(`{"data":[],"more":${text}}`));
  await expect(upstream.rules.x.list(call)).rejects.toThrow(`It sent an answer that is ${what}`);
});

test('compression is not requested, and a compressed answer is not unpacked', async () => {
  const encodings: unknown[] = [];
  await using upstream = await startUpstream((response, { headers }) => {
    encodings.push(headers['accept-encoding']);
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(100 * mebibyte)));
  });
  await expect(upstream.rules.x.list(call)).rejects.toThrow('X answered 200 to a rule call');
  expect(encodings).toEqual(['identity']);
});

test('a stream that is refused with a huge body ends with the reason of its status', async () => {
  const { sent, answer } = hugely(429);
  await using upstream = await startUpstream(answer);
  const stream = createXStream(upstream.client).open(
    { after: null, since: null, now: new Date() },
    call.signal,
  );
  const error: unknown = await stream[Symbol.asyncIterator]()
    .next()
    .catch((thrown: unknown) => thrown);
  expect(error instanceof StreamEnded && error.ending.kind).toBe('rate_limited');
  await sent.closed;
  expect(sent.bytes).toBeLessThan(hugeBytes);
});

const rules = (count: number, value: string) =>
  Array.from(
    { length: count },
    (_, n) => `{"id":"${n}","value":"${value}","tag":"earshot:1033a29bab21:slot_01kb2m9x4c7q5t8w3y6z1v0n2p"}`,
  ).join(',');

test('the longest rule page of X is read', async () => {
  const body = `{"data":[${rules(1_000, '\\u6771'.repeat(2_048))}],"meta":{"result_count":1000}}`;
  await using upstream = await startUpstream((response) => response.end(body));
  expect(await upstream.rules.x.list(call)).toHaveLength(1_000);
});

test('a full rule list of a Firehose token is read', async () => {
  const body = `{"data":[${rules(100_000, 'x'.repeat(500))}]}`;
  await using upstream = await startUpstream((response) => response.end(body));
  expect(await upstream.rules.firehose.list(call)).toHaveLength(100_000);
});
