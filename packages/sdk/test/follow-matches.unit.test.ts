import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { createEarshot, type FollowedMatches } from '../src/index.ts';
import { cut, failure, proxyPage, type ReceivedRequest, startAnsweringServer } from './answering-server.ts';

const key = 'esk_test';

/** A stream that starts at a cursor, sends matches (`c1` is the cursor behind `mat_1`), and then ends, dies or stays open. */
const stream =
  (open: string, numbers: readonly number[], then: 'end' | 'die' | 'stay') =>
  (response: ServerResponse, _request?: ReceivedRequest) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`retry: 5\n\nid: ${open}\nevent: open\ndata: {}\n\n`);
    for (const number of numbers) {
      response.write(`id: c${number}\nevent: match\ndata: {"id":"mat_${number}"}\n\n`);
    }
    // An incomplete event, which must be ignored.
    if (then === 'die') response.write('id: c999\nevent: match\nda', () => response.destroy());
    if (then === 'end') response.end();
  };

async function take(matches: FollowedMatches, count: number): Promise<string[]> {
  const ids: string[] = [];
  if (count === 0) return ids;
  for await (const { id } of matches) if (ids.push(id) === count) break;
  return ids;
}

test('resumes after the last match after every kind of interruption', async () => {
  await using server = await startAnsweringServer(
    stream('c0', [1, 2], 'end'),
    cut,
    proxyPage(502),
    failure(500, 'internal'),
    failure(429, 'resource_exhausted', { 'retry-after': '0' }),
    stream('c2', [3], 'die'),
    stream('c3', [4], 'stay'),
  );
  const matches = createEarshot({ url: server.url, key }).followMatches({ platform: 'x', cursor: 'c0' });
  expect(await take(matches, 4)).toEqual(['mat_1', 'mat_2', 'mat_3', 'mat_4']);
  expect(server.requests.map(({ headers }) => headers['last-event-id'])).toEqual([
    'c0',
    'c2',
    'c2',
    'c2',
    'c2',
    'c2',
    'c3',
  ]);
  expect(new Set(server.requests.map(({ url }) => url))).toEqual(new Set(['/matches/stream?platform=x']));
});

test('yields repeated matches once', async () => {
  await using server = await startAnsweringServer(
    stream('c0', [1, 2, 3], 'end'),
    stream('c1', [2, 3, 3, 4], 'stay'),
  );
  const matches = createEarshot({ url: server.url, key }).followMatches();
  expect(await take(matches, 4)).toEqual(['mat_1', 'mat_2', 'mat_3', 'mat_4']);
});

test('remembers only the last 1,000 ids', async () => {
  const numbers = Array.from({ length: 1_001 }, (_, index) => index + 1);
  await using server = await startAnsweringServer(
    stream('c0', numbers, 'end'),
    stream('c0', [2, 1_001, 1, 1_002], 'stay'),
  );
  const matches = createEarshot({ url: server.url, key }).followMatches();
  expect((await take(matches, 1_003)).slice(-3)).toEqual(['mat_1001', 'mat_1', 'mat_1002']);
});

test('starts now without a cursor, and resumes there even if no match arrived', async () => {
  await using server = await startAnsweringServer(stream('c7', [], 'end'), stream('c7', [8], 'stay'));
  const matches = createEarshot({ url: server.url, key }).followMatches();
  expect(matches.cursor).toBeUndefined();
  expect(await take(matches, 1)).toEqual(['mat_8']);
  expect(server.requests.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, 'c7']);
});

test('the cursor points behind the current match, and a second loop continues there', async () => {
  await using server = await startAnsweringServer(stream('c0', [1, 2, 3], 'stay'), stream('c2', [3], 'stay'));
  const matches = createEarshot({ url: server.url, key }).followMatches();
  expect(await take(matches, 2)).toEqual(['mat_1', 'mat_2']);
  expect(matches.cursor).toBe('c2');
  expect(await take(matches, 1)).toEqual(['mat_3']);
  expect(server.requests[1]?.headers['last-event-id']).toBe('c2');
});

test.for([
  [400, 'out_of_range'],
  [401, 'unauthenticated'],
  [404, 'not_found'],
] as const)('%i %s ends the loop', async ([status, code]) => {
  await using server = await startAnsweringServer(failure(status, code, {}, { oldest_cursor: 'c5' }));
  const matches = createEarshot({ url: server.url, key }).followMatches({ cursor: 'c1' });
  await expect(take(matches, 1)).rejects.toMatchObject({ code, details: { oldest_cursor: 'c5' } });
});

test('continues at the oldest cursor after a restore, and reports it', async () => {
  const details = { reason: 'restored', oldest_cursor: 'c5' };
  await using server = await startAnsweringServer(
    failure(400, 'out_of_range', {}, details),
    stream('c5', [6], 'stay'),
  );
  const reported: unknown[] = [];
  const options = { onRestored: (error: unknown) => reported.push(error) };
  const matches = createEarshot({ url: server.url, key }).followMatches({ cursor: 'c9' }, options);
  expect(await take(matches, 1)).toEqual(['mat_6']);
  expect(server.requests.map(({ headers }) => headers['last-event-id'])).toEqual(['c9', 'c5']);
  expect(reported).toMatchObject([{ code: 'out_of_range', details }]);
});

test('reconnects after too long a silence', async () => {
  await using server = await startAnsweringServer(stream('c0', [], 'stay'), stream('c0', [1], 'stay'));
  const matches = createEarshot({ url: server.url, key }).followMatches({}, { silenceMsMax: 100 });
  expect(await take(matches, 1)).toEqual(['mat_1']);
});

test('a slow loop does not count as silence', async () => {
  await using server = await startAnsweringServer(stream('c0', [1, 2], 'stay'));
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
  await using server = await startAnsweringServer(stream('c0', [1], 'stay'));
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
  await using server = await startAnsweringServer(stream('c0', [1], 'stay'));
  const matches = createEarshot({ url: server.url, key }).followMatches();
  const loop = async () => {
    for await (const { id } of matches) throw new Error(`no use for ${id}`);
  };
  await expect(loop()).rejects.toThrow('no use for mat_1');
});

test('reports removals in order, and skips them without onRemoved', async () => {
  const removal = {
    type: 'removed',
    match_id: 'mat_1',
    reason: 'deleted',
    removed_at: '2026-11-16T09:00:00.000Z',
  };
  const withRemoval = (response: ServerResponse) => {
    stream('c0', [1], 'stay')(response);
    response.write(`id: c2\nevent: removed\ndata: ${JSON.stringify(removal)}\n\n`);
    response.end('id: c3\nevent: match\ndata: {"id":"mat_3"}\n\n');
  };
  await using server = await startAnsweringServer(withRemoval, withRemoval, stream('c3', [4], 'stay'));
  const earshot = createEarshot({ url: server.url, key });
  const trace: unknown[] = [];
  const onRemoved = async (removed: unknown) => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    trace.push(removed);
  };
  for await (const { id } of earshot.followMatches({}, { onRemoved })) {
    trace.push(id);
    if (id === 'mat_3') break;
  }
  expect(trace).toEqual(['mat_1', removal, 'mat_3']);
  const unaware = earshot.followMatches();
  expect(await take(unaware, 3)).toEqual(['mat_1', 'mat_3', 'mat_4']);
  expect(server.requests.at(-1)?.headers['last-event-id']).toBe('c3');
});
