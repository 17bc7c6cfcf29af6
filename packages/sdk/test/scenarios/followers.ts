import type { ServerResponse } from 'node:http';
import { expect } from 'vitest';
import { cut, failure, proxyPage } from '../answering-server.ts';
import { removal, restored } from './log-answers.ts';
import { type Respond, repeat, type Scenario, type Step } from './scenario.ts';

/** A stream that starts at a cursor, sends matches (`c1` is the cursor behind `mat_1`), and then ends, dies or stays open. */
const stream =
  (open: string, numbers: readonly number[], then: 'end' | 'die' | 'stay'): Respond =>
  (response) => {
    begin(response, open);
    for (const number of numbers) send(response, `c${number}`, 'match', { id: `mat_${number}` });
    // An incomplete event, which must be ignored.
    if (then === 'die') response.write('id: c999\nevent: match\nda', () => response.destroy());
    if (then === 'end') response.end();
  };

function begin(response: ServerResponse, open: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(`retry: 5\n\nid: ${open}\nevent: open\ndata: {}\n\n`);
}

function send(response: ServerResponse, id: string, event: string, data: object): void {
  response.write(`id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}

const item = (number: number, cursor = `c${number}`) => ({ item: `mat_${number}`, cursor });

export function followerScenarios(): Scenario[] {
  const follow = (takes: readonly number[], request: object = {}, options: object = {}): Step => ({
    do: 'follow',
    what: 'matches',
    request,
    takes,
    ...options,
  });
  const at = (...cursors: readonly (string | undefined)[]) =>
    cursors.map((cursor) => ({ url: '/matches/stream', ...(cursor !== undefined && { cursor }) }));
  const many = Array.from({ length: 1_001 }, (_, index) => index + 1);
  return [
    {
      name: 'a follower resumes behind the last match after every kind of interruption',
      answers: () => [
        stream('c0', [1, 2], 'end'),
        cut,
        proxyPage(503),
        failure(500, 'internal'),
        failure(429, 'resource_exhausted', { 'retry-after': '0' }),
        stream('c2', [3], 'die'),
        // The server is away for a moment.
        (response) => {
          const server = Object(response.socket).server;
          const { port } = server.address();
          server.close(() => setTimeout(() => server.listen(port, '127.0.0.1'), 30));
          server.closeAllConnections();
        },
        stream('c3', [4], 'stay'),
      ],
      steps: [follow([4], { platform: 'x', cursor: 'c0' })],
      observed: [item(1), item(2), item(3), item(4)],
      received: ['c0', 'c2', 'c2', 'c2', 'c2', 'c2', 'c3', 'c3'].map((cursor) => ({
        url: '/matches/stream?platform=x',
        cursor,
      })),
    },
    {
      name: 'a follower yields repeated matches once',
      answers: () => [stream('c0', [1, 2, 3], 'end'), stream('c1', [2, 3, 3, 4], 'stay')],
      steps: [follow([4])],
      observed: [item(1), item(2), item(3), item(4)],
    },
    {
      name: 'a follower remembers the last 1,000 ids',
      answers: () => [stream('c0', many, 'end'), stream('c0', [2, 1_001, 1, 1_002], 'stay')],
      steps: [follow([1_003])],
      observed: [...many, 1, 1_002].map((number) => item(number)),
    },
    {
      name: 'a follower without a cursor starts now, and resumes there even if no match arrived',
      answers: () => [stream('c7', [], 'end'), stream('c7', [8], 'stay')],
      steps: [follow([1])],
      observed: [item(8)],
      received: at(undefined, 'c7'),
    },
    {
      name: 'a second loop over a follower continues behind the first one',
      answers: () => [stream('c0', [1, 2, 3], 'stay'), stream('c2', [3], 'stay')],
      steps: [follow([2, 1])],
      observed: [item(1), item(2), item(3)],
      received: at(undefined, 'c2'),
    },
    {
      name: 'a follower ends with an expired cursor, an invalid key and a deleted rule',
      answers: () => [
        failure(400, 'out_of_range', {}, { reason: 'retention', oldest_cursor: 'c5' }),
        failure(401, 'unauthenticated'),
        failure(404, 'not_found'),
      ],
      steps: repeat(follow([1], { cursor: 'c1' }), 3),
      observed: [
        {
          error: expect.objectContaining({
            code: 'out_of_range',
            reason: 'retention',
            details: expect.objectContaining({ oldest_cursor: 'c5' }),
          }),
        },
        { error: expect.objectContaining({ code: 'unauthenticated' }) },
        { error: expect.objectContaining({ code: 'not_found' }) },
      ],
    },
    {
      name: 'a follower continues at the oldest cursor after a restore, and reports it',
      answers: () => [restored, stream('c5', [6], 'stay')],
      steps: [follow([1], { cursor: 'c9' })],
      observed: [{ restored: 'out_of_range', cursor: 'c5' }, item(6)],
      received: at('c9', 'c5'),
    },
    {
      name: 'a follower reconnects after too long a silence',
      answers: () => [stream('c0', [], 'stay'), stream('c0', [1], 'stay')],
      steps: [follow([1], {}, { silenceMsMax: 200 })],
      observed: [item(1)],
    },
    {
      name: 'a follower reports removals in order, and skips them without a listener',
      answers: () =>
        Array(2).fill((response: ServerResponse) => {
          stream('c0', [1], 'stay')(response, Object());
          send(response, 'c2', 'removed', removal('mat_0'));
          send(response, 'c3', 'match', { id: 'mat_3' });
        }),
      steps: [follow([2]), follow([2], {}, { ignoresRemovals: true })],
      observed: [item(1), { removed: 'mat_0' }, item(3), item(1), item(3)],
    },
    {
      name: 'a follower sends its relevance, and resumes behind matches that are left out',
      answers: () => [
        (response) => {
          stream('c0', [1], 'stay')(response, Object());
          send(response, 'c5', 'hidden', { muted: 0, not_relevant: 4 });
          response.end();
        },
        stream('c5', [6], 'stay'),
      ],
      steps: [follow([2], { relevance: 'not_irrelevant' })],
      observed: [item(1), item(6)],
      received: [undefined, 'c5'].map((cursor) => ({
        url: '/matches/stream?relevance=not_irrelevant',
        ...(cursor !== undefined && { cursor }),
      })),
    },
    {
      name: 'a follower reads characters that are split, and line separators in a text',
      answers: () => [
        (response) => {
          begin(response, 'c0');
          const bytes = Buffer.from(
            'id: c1\r\nevent: match\r\ndata: {"id": "é\u2028\u0085\u{1f680}"}\r\n\r\n',
          );
          // One byte in each piece.
          const next = (index: number): unknown =>
            index < bytes.length &&
            response.write(bytes.subarray(index, index + 1), () => setImmediate(next, index + 1));
          next(0);
        },
      ],
      steps: [follow([1])],
      observed: [{ item: 'é\u2028\u0085\u{1f680}', cursor: 'c1' }],
    },
    {
      name: 'a follower of notices yields a notice again when it is resolved',
      answers: () => [
        (response) => {
          begin(response, 'n0');
          for (const [id, resolvedAt] of [
            ['n1', null],
            ['n2', null],
            ['n3', '2026-11-16T09:00:00.000Z'],
          ])
            send(response, String(id), 'notice', { id: 'ntc_1', resolved_at: resolvedAt });
        },
      ],
      steps: [{ do: 'follow', what: 'notices', request: {}, takes: [2] }],
      observed: [
        { item: 'ntc_1', cursor: 'n1' },
        { item: 'ntc_1', cursor: 'n3' },
      ],
      received: [{ url: '/notices/stream' }],
    },
    {
      name: 'a page instead of a stream is reported',
      answers: () => [proxyPage(200)],
      steps: [follow([1])],
      observed: [{ error: expect.objectContaining({ code: 'unknown', status: 200 }) }],
    },
  ];
}
