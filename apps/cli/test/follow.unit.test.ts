import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { noticingFetch } from '../src/follow.ts';

/** A real server that answers one status after the other. */
async function startServer(answers: readonly { status: number; retryAfter?: string }[]) {
  let asked = 0;
  const server = createServer((_, response) => {
    const { status, retryAfter } = answers[asked++] ?? { status: 200 };
    response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter }).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

test('trouble is told once, and its end', async () => {
  await using server = await startServer([
    { status: 503 },
    { status: 503 },
    { status: 200 },
    { status: 200 },
  ]);
  const notes: string[] = [];
  const ask = noticingFetch((text) => notes.push(text));
  for (let times = 0; times < 4; times += 1) await ask(server.url);
  expect(notes).toEqual(['Earshot answers with 503; trying again …', 'Earshot is there again.']);
});

test('a limit that waiting does not lift, and an answer that nobody tries again, are not called trouble', async () => {
  await using server = await startServer([
    { status: 429, retryAfter: '60' },
    { status: 500 },
    { status: 404 },
    { status: 429, retryAfter: '10' },
  ]);
  const notes: string[] = [];
  const ask = noticingFetch((text) => notes.push(text));
  for (let times = 0; times < 3; times += 1) await ask(server.url);
  expect(notes).toEqual([]);
  await ask(server.url);
  expect(notes).toEqual(['Earshot answers with 429; trying again …']);
});

test('nobody there is trouble, and giving up oneself is not', async () => {
  const { url, ...server } = await startServer([]);
  await server[Symbol.asyncDispose]();
  const notes: string[] = [];
  const ask = noticingFetch((text) => notes.push(text));
  await expect(ask(url, { signal: AbortSignal.abort() })).rejects.toThrow('aborted');
  expect(notes).toEqual([]);
  await expect(ask(url)).rejects.toThrow('fetch failed');
  expect(notes).toEqual(['Earshot cannot be reached; trying again …']);
});
