import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createEarshot, type EarshotOptions, type Removal } from '@earshot/sdk';
import { expect, test } from 'vitest';
import { json, startAnsweringServer } from '../../../packages/sdk/test/answering-server.ts';
import { followFrom, noticingFetch } from '../src/follow.ts';

/** Answers with these statuses in order, then always with the last one. */
const startServer = (...statuses: readonly number[]) =>
  startAnsweringServer(...statuses.map((status) => json(status, {})));

test('noticingFetch reports an outage once, and its end', async () => {
  await using server = await startServer(503, 503, 200);
  const notes: string[] = [];
  const ask = noticingFetch((text) => notes.push(text));
  for (let times = 0; times < 4; times += 1) await ask(server.url);
  expect(notes).toEqual(['Earshot answers with 503; trying again …', 'Earshot is available again.']);
});

test('noticingFetch does not report errors that are not retried', async () => {
  const lifted = json(429, {}, { 'retry-after': '60' });
  await using server = await startAnsweringServer(json(429, {}), json(500, {}), json(404, {}), lifted);
  const notes: string[] = [];
  const ask = noticingFetch((text) => notes.push(text));
  for (let times = 0; times < 3; times += 1) await ask(server.url);
  expect(notes).toEqual([]);
  await ask(server.url);
  expect(notes).toEqual(['Earshot answers with 429; trying again …']);
});

test('noticingFetch reports an unreachable server, but not an aborted request', async () => {
  const { url, ...server } = await startServer(200);
  await server[Symbol.asyncDispose]();
  const notes: string[] = [];
  const ask = noticingFetch((text) => notes.push(text));
  await expect(ask(url, { signal: AbortSignal.abort() })).rejects.toThrow('aborted');
  expect(notes).toEqual([]);
  await expect(ask(url)).rejects.toThrow('fetch failed');
  expect(notes).toEqual(['Earshot cannot be reached; trying again …']);
});

/**
 * Lists `a`, removals, a page whose matches are left out, and `b`. After the stream has opened, `a` is removed, and `b` and `c` arrive.
 */
async function startLog() {
  const requests: string[] = [];
  let stream: ServerResponse | undefined;
  const isClosed = Promise.withResolvers<void>();
  const event = (id: string) => `id: ${id}\nevent: match\ndata: ${JSON.stringify({ id })}\n\n`;
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    if (request.url === '/matches/stream') {
      stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
      stream.on('close', isClosed.resolve).write('id: open\nevent: open\ndata: {}\n\n');
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    const page = requests.filter((path) => path === '/matches').length - 1;
    const pages = [
      { matches: [{ id: 'a' }] },
      { removed: [{}] },
      { hidden: { muted: 1, not_relevant: 0 } },
      { matches: [{ id: 'b' }] },
    ];
    response.end(JSON.stringify({ matches: [], ...pages[page], next_cursor: 'n', coverage: null }));
    const taken = `id: r\nevent: removed\ndata: ${JSON.stringify({ match_id: 'a' })}\n\n`;
    if (page === 0) stream?.write(taken + event('b') + event('c'));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    streamIsClosed: isClosed.promise,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Tails the log up to `c`. Returns the ids of matches and removals. */
async function tailUpToC(options: EarshotOptions): Promise<string[]> {
  const ids: string[] = [];
  const following = {
    filter: {},
    from: '2026-11-15T00:00:00Z',
    signal: AbortSignal.timeout(30_000),
    note: () => undefined,
    onRemoved: ({ match_id }: Removal) => void ids.push(`${match_id} removed`),
  };
  for await (const { id } of followFrom(createEarshot(options), following)) {
    ids.push(id);
    if (id === 'c') break;
  }
  return ids;
}

test('followFrom joins past and new matches without gaps or repetitions, and closes the stream with the loop', async () => {
  await using log = await startLog();
  expect(await tailUpToC({ url: log.url, key: 'esk_1' })).toEqual(['a', 'b', 'a removed', 'c']);
  expect(log.requests).toEqual(['/matches/stream', ...Array(5).fill('/matches')]);
  await log.streamIsClosed;
});

test('followFrom retries if the server is unreachable while the past is listed', async () => {
  await using log = await startLog();
  let refusals = 3;
  const ask: typeof fetch = async (input, init) => {
    const isList = new URL(input instanceof Request ? input.url : input).pathname === '/matches';
    if (isList && log.requests.includes('/matches') && refusals-- > 0) throw new TypeError('fetch failed');
    return fetch(input, init);
  };
  const ids = await tailUpToC({ url: log.url, key: 'esk_1', fetch: ask, timeoutMs: 200 });
  expect(ids).toEqual(['a', 'b', 'a removed', 'c']);
  expect(refusals).toBeLessThan(1);
});

test('followFrom throws if the stream is refused', async () => {
  await using server = await startServer(401);
  const earshot = createEarshot({ url: server.url, key: 'esk_1' });
  const following = {
    filter: {},
    from: '2026-11-15T00:00:00Z',
    signal: AbortSignal.timeout(30_000),
    note: () => undefined,
  };
  await expect(followFrom(earshot, following).next()).rejects.toMatchObject({
    code: 'unauthenticated',
  });
});
