import { once } from 'node:events';
import { createServer } from 'node:http';
import { listenOnLoopback } from '@earshot/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import type { LocalRule, LocalRules } from '../local-rules.ts';
import { StreamEnded, type StreamFrame, type StreamStart } from '../upstream-stream.ts';
import { readBlueskyPost } from './item.ts';
import { createBlueskyStream } from './stream.ts';

/** What the instance answers to the next connection: a status, or what it does with the socket. */
let answer: number | ((socket: WebSocket) => void);
let asked: URL[];
let url: string;
let stack: AsyncDisposableStack;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  asked = [];
  answer = () => undefined;
  const sockets = new WebSocketServer({ noServer: true });
  const server = createServer();
  server.on('upgrade', (request, socket, head) => {
    asked.push(new URL(request.url ?? '', 'http://instance'));
    const wanted = answer;
    if (typeof wanted === 'number') {
      const body = '{"error":"InvalidRequest","message":"no"}';
      socket.end(
        `HTTP/1.1 ${wanted} No\r\nretry-after: 7\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
      );
    } else sockets.handleUpgrade(request, socket, head, wanted);
  });
  url = `ws://127.0.0.1:${await listenOnLoopback(server)}`;
  stack.defer(async () => {
    for (const client of sockets.clients) client.terminate();
    server.close();
    await once(server, 'close');
  });
});
afterEach(() => stack.disposeAsync());

const since = new Date('2026-05-25T10:00:00Z');
const rule = (id: string, value: string, from = since): LocalRule => ({ id, value, tag: null, since: from });

/** Rules that a test may change. */
function rulesOf(...first: LocalRule[]) {
  const changes: LocalRule[][] = [];
  let wake = () => undefined as void;
  return {
    list: async () => first,
    async *changes(_sourceId: string, signal: AbortSignal) {
      signal.addEventListener('abort', () => wake());
      while (!signal.aborted) {
        yield* changes.splice(0);
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (signal.aborted || changes.length > 0) resolve();
        });
      }
    },
    change(...next: LocalRule[]) {
      changes.push(next);
      wake();
    },
  };
}

const none: StreamStart = { after: null, since: null, now: since };
const end = new AbortController();

const framesOf = (rules: LocalRules, start = none, path = '', signal = end.signal) =>
  createBlueskyStream({ url: `${url}${path}`, sourceId: 'bluesky:test', rules }).open(start, signal);

/** All frames until the stream ends, without keep-alives, and the ending. */
async function collect(frames: AsyncIterable<StreamFrame>) {
  const collected: StreamFrame[] = [];
  try {
    for await (const frame of frames) if (frame.kind !== 'alive') collected.push(frame);
  } catch (error) {
    if (error instanceof StreamEnded) return { frames: collected, ending: error.ending };
    throw error;
  }
  throw new Error('the stream ended without a StreamEnded');
}

const commit = (
  seq: number,
  text: string,
  { time = '2026-05-25T14:23:29.000000Z', operation = 'create' } = {},
) =>
  JSON.stringify({
    $type: 'message',
    payload: {
      $type: 'network.bsky.jetstream.subscribeEvents#commit',
      seq,
      did: 'did:plc:a',
      time,
      rev: '3k',
      operation,
      collection: 'app.bsky.feed.post',
      rkey: `k${seq}`,
      ...(operation !== 'delete' && { cid: 'c', record: { text, createdAt: time } }),
    },
  });

const sends =
  (...messages: readonly string[]) =>
  (socket: WebSocket) => {
    for (const message of messages) socket.send(message);
    socket.close(1001);
  };

test('only matching posts are passed on, with the ids of their rules, and the position passes the others', async () => {
  answer = sends(
    commit(1, 'a rocket'),
    commit(2, 'a train'),
    commit(3, 'rocket outage'),
    commit(4, 'a boat'),
  );
  const { frames, ending } = await collect(framesOf(rulesOf(rule('1', 'rocket'), rule('2', 'outage'))));
  expect(ending).toEqual({ kind: 'dropped' });
  const items = frames.flatMap((frame) => (frame.kind === 'item' ? [readBlueskyPost('s', frame.text)] : []));
  expect(items).toMatchObject([
    { item: { platformPostId: 'at://did:plc:a/app.bsky.feed.post/k1', rules: [{ upstreamRuleId: '1' }] } },
    { item: { payload: { text: 'rocket outage', author: { id: 'did:plc:a' } } } },
  ]);
  expect(frames[0]).toEqual({ kind: 'opened' });
  expect(frames.at(-1)).toEqual({ kind: 'passed', upstreamId: '1779719009000000-4' });
});

test('a post from before the registration of a rule does not match it', async () => {
  answer = sends(commit(1, 'a rocket'));
  const later = rule('2', 'rocket', new Date('2026-05-25T14:24:00Z'));
  const { frames } = await collect(framesOf(rulesOf(rule('1', 'rocket'), later)));
  const [item] = frames.filter((frame) => frame.kind === 'item');
  expect(JSON.parse(item?.text ?? '').rules).toEqual(['1']);
});

test('a deletion is passed on with the key of the post', async () => {
  answer = sends(commit(1, 'a rocket'), commit(1, '', { operation: 'delete' }));
  const { frames } = await collect(framesOf(rulesOf(rule('1', 'rocket'))));
  const [item] = frames.flatMap((frame) => (frame.kind === 'item' ? [readBlueskyPost('s', frame.text)] : []));
  expect(item).toMatchObject({ item: { key: expect.any(String) } });
  const key = item?.kind === 'item' ? item.item.key : '';
  expect(frames).toContainEqual(expect.objectContaining({ kind: 'deleted', key }));
});

test('new rules match and removed ones no longer do, on the same connection; without rules it ends', async () => {
  const rules = rulesOf(rule('1', 'rocket'));
  let instance: WebSocket | undefined;
  answer = (socket) => {
    instance = socket;
  };
  const ids: string[][] = [];
  const reading = collect(
    (async function* () {
      for await (const frame of framesOf(rules)) {
        if (frame.kind === 'item') ids.push(JSON.parse(frame.text).rules);
        yield frame;
      }
    })(),
  );
  const matched = async (word: string, expected: string[]) => {
    for (let seq = 1; ids.at(-1)?.join() !== expected.join(); seq++) {
      instance?.send(commit(seq, word));
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  await matched('rocket', ['1']);
  rules.change(rule('2', 'train'));
  await matched('train rocket', ['2']);
  rules.change();
  expect((await reading).ending).toEqual({ kind: 'no_rules' });
  expect(asked).toHaveLength(1);
});

test('a rule that is read after posts which it should have matched gets them, and no older ones', async () => {
  const rules = rulesOf(rule('1', 'train'));
  answer = (socket) => socket.send(commit(1, 'a rocket'));
  const frames = framesOf(rules)[Symbol.asyncIterator]();
  const nextItem = async () => {
    for (;;) {
      const { value } = await frames.next();
      if (value.kind === 'passed') return null;
      if (value.kind === 'item') return JSON.parse(value.text);
    }
  };
  expect(await nextItem()).toBeNull();
  const late = new Date('2026-05-25T14:23:30Z');
  rules.change(rule('1', 'train'), rule('2', 'rocket'), rule('3', 'rocket', late));
  expect(await nextItem()).toMatchObject({ rules: ['2'], post: { rkey: 'k1' } });
  await frames.return?.(undefined);
});

test('without a rule there is no connection', async () => {
  expect((await collect(framesOf(rulesOf()))).ending).toEqual({ kind: 'no_rules' });
  expect(asked).toEqual([]);
});

const micros = (time: string) => `${Date.parse(time)}000`;

test.each([
  ['nothing is known', none, null],
  ['an id is known', { ...none, after: '1779719009000042-9' }, micros('2026-05-25T14:23:27Z')],
  ['a time is known', { ...none, since: new Date('2026-05-25T12:00:00Z') }, micros('2026-05-25T11:59:58Z')],
  [
    'it is older than all rules',
    { ...none, since: new Date('2026-05-24T12:00:00Z') },
    micros('2026-05-25T09:59:58Z'),
  ],
])('the stream begins where it must if %s', async (_name, start, cursor) => {
  answer = sends();
  await collect(framesOf(rulesOf(rule('1', 'rocket')), start));
  const [{ pathname, searchParams } = new URL('http://none')] = asked;
  expect(pathname).toBe('/xrpc/network.bsky.jetstream.subscribeEvents');
  expect(searchParams.get('cursor')).toBe(cursor);
  expect(searchParams.getAll('collections')).toEqual(['app.bsky.feed.post']);
});

test('what the instance no longer has is reported before the first post', async () => {
  const outdated =
    '{"$type":"message","payload":{"$type":"network.bsky.jetstream.subscribeEvents#info","name":"OutdatedCursor"}}';
  answer = sends(outdated, commit(1, 'a rocket'), commit(2, 'a rocket'));
  const start = { ...none, since: new Date('2026-05-25T12:00:00Z') };
  const { frames } = await collect(framesOf(rulesOf(rule('1', 'rocket')), start));
  expect(frames.map(({ kind }) => kind)).toEqual(['opened', 'lost', 'item', 'item']);
  expect(frames[1]).toEqual({ kind: 'lost', before: new Date('2026-05-25T14:23:29Z') });
  // Only what is read again for safety is missing.
  const recent = { ...none, since: new Date('2026-05-25T14:23:29Z') };
  const { frames: complete } = await collect(framesOf(rulesOf(rule('1', 'rocket')), recent));
  expect(complete.map(({ kind }) => kind)).toEqual(['opened', 'item', 'item']);
});

test('the older protocol skips without a word: a first post long after the requested time shows it', async () => {
  const older = (at: string) =>
    `{"did":"did:plc:a","time_us":${micros(at)},"kind":"commit","commit":{"rev":"3k","operation":"create","collection":"app.bsky.feed.post","rkey":"k","record":{"text":"a rocket"},"cid":"c"}}`;
  const start = { ...none, since: new Date('2026-05-25T12:00:00Z') };
  const kinds = async (at: string) => {
    answer = sends(older(at));
    const { frames } = await collect(framesOf(rulesOf(rule('1', 'rocket')), start, '/subscribe'));
    return frames.map(({ kind }) => kind);
  };
  expect(await kinds('2026-05-25T12:00:30Z')).toEqual(['opened', 'item']);
  expect(await kinds('2026-05-25T13:00:00Z')).toEqual(['opened', 'lost', 'item']);
  expect(asked[0]?.searchParams.getAll('wantedCollections')).toEqual(['app.bsky.feed.post']);
});

test.each([
  [400, { kind: 'bad_request' }],
  [401, { kind: 'credentials' }],
  [429, { kind: 'rate_limited', retryAfterMs: 7_000 }],
  [503, { kind: 'failing', status: 503 }],
] as const)('an answer with the status %d', async (status, ending) => {
  answer = status;
  expect((await collect(framesOf(rulesOf(rule('1', 'rocket'))))).ending).toEqual(ending);
});

test('a reader that is too slow, an unreadable frame and a shutdown', async () => {
  answer = sends('nonsense', '{"$type":"error","error":"ConsumerTooSlow"}');
  const slow = await collect(framesOf(rulesOf(rule('1', 'rocket'))));
  expect(slow.ending).toEqual({ kind: 'slow_reader' });
  const [, unreadable] = slow.frames;
  expect(unreadable?.kind === 'item' && readBlueskyPost('s', unreadable.text)).toEqual({
    kind: 'dropped',
    reason: 'not_json',
  });
  answer = () => undefined;
  const stopping = new AbortController();
  const stopped = collect(framesOf(rulesOf(rule('1', 'rocket')), none, '', stopping.signal));
  stopping.abort();
  expect((await stopped).ending).toEqual({ kind: 'stopped' });
});

test('an instance that cannot be reached', async () => {
  await stack.disposeAsync();
  expect((await collect(framesOf(rulesOf(rule('1', 'rocket'))))).ending).toEqual({ kind: 'unreachable' });
});
