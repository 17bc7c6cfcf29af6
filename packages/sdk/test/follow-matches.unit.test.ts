import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { createEarshot } from '../src/index.ts';
import { startAnsweringServer } from './answering-server.ts';

const key = 'esk_test';

// `scenarios.unit.test.ts` has what every SDK does.

/** A stream with matches that stays open. */
const stream =
  (...numbers: readonly number[]) =>
  (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const number of numbers)
      response.write(`id: c${number}\nevent: match\ndata: {"id":"mat_${number}"}\n\n`);
  };

test('a slow loop does not count as silence', async () => {
  await using server = await startAnsweringServer(stream(1, 2));
  const matches = createEarshot({ url: server.url, key }).followMatches({}, { silenceMsMax: 300 });
  for await (const { id } of matches) {
    if (id === 'mat_2') break;
    await new Promise((resolve) => setTimeout(resolve, 400));
  }
  expect(server.requests).toHaveLength(1);
});

test('an abort ends the wait for the next match, and throws the reason of the signal', async () => {
  const controller = new AbortController();
  const reason = new Error('enough');
  await using server = await startAnsweringServer(stream(1));
  const earshot = createEarshot({ url: server.url, key });
  const matches = earshot.followMatches({}, { signal: controller.signal });
  const all = (async () => {
    for await (const _ of matches) setTimeout(() => controller.abort(reason), 20);
  })();
  await expect(all).rejects.toBe(reason);
});

test('after an abort in the body of the loop, received matches are not yielded', async () => {
  const controller = new AbortController();
  // Sends both events in one piece.
  await using server = await startAnsweringServer((response) => {
    const events = [1, 2].map((number) => `id: c${number}\nevent: match\ndata: {"id":"mat_${number}"}\n\n`);
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(events.join(''));
  });
  const reason = new Error('enough');
  const earshot = createEarshot({ url: server.url, key });
  const matches = earshot.followMatches({}, { signal: controller.signal });
  const ids: string[] = [];
  const loop = async () => {
    for await (const { id } of matches) {
      ids.push(id);
      controller.abort(reason);
    }
  };
  await expect(loop()).rejects.toBe(reason);
  expect(ids).toEqual(['mat_1']);
  expect(matches.cursor).toBe('c1');
});

test('an error in the body of the loop is thrown', async () => {
  await using server = await startAnsweringServer(stream(1));
  const matches = createEarshot({ url: server.url, key }).followMatches();
  const loop = async () => {
    for await (const { id } of matches) throw new Error(`no use for ${id}`);
  };
  await expect(loop()).rejects.toThrow('no use for mat_1');
});

test('reports how many matches were left out', async () => {
  const hidden = { muted: 2, not_relevant: 1 };
  await using server = await startAnsweringServer((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`id: c1\nevent: hidden\ndata: ${JSON.stringify(hidden)}\n\n`);
    response.write('id: c2\nevent: match\ndata: {"id":"mat_2"}\n\n');
  });
  const reported: unknown[] = [];
  const onHidden = (numbers: object) => void reported.push(numbers);
  for await (const _ of createEarshot({ url: server.url, key }).followMatches({}, { onHidden })) break;
  expect(reported).toEqual([hidden]);
});
