import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createEventLog } from '../src/bluesky/event-log.ts';
import { findStart } from '../src/bluesky/start-position.ts';
import { type Sandbox, startSandbox } from '../src/index.ts';
import { createBlueskyClient, uriAt } from './bluesky-client.ts';
import { at, eventually, textAt } from './client.ts';

let sandbox: Sandbox;
let client: ReturnType<typeof createBlueskyClient>;

beforeEach(async () => {
  sandbox = await startSandbox();
  client = createBlueskyClient(sandbox);
});
afterEach(() => sandbox.close());

const microsOf = (time: string) => Date.parse(time) * 1_000 + Number(time.slice(-4, -1));
const seqOf = (frame: unknown) => at(frame, 'payload', 'seq');

describe('before the upgrade', () => {
  test.each([
    ['kinds=likes', 'InvalidRequest', 'unknown kind "likes"'],
    ['kinds=commit&kinds=commit&kinds=commit&kinds=commit&kinds=commit', 'InvalidRequest', 'too many kinds'],
    ['kinds=identity&collections=app.bsky.feed.like', 'InvalidRequest', 'can never apply'],
    ['collections=not_an_nsid.*', 'InvalidRequest', 'not_an_nsid'],
    ['collections=app', 'InvalidRequest', 'invalid collection'],
    ['dids=alice', 'InvalidRequest', 'invalid DID'],
    ['wantedDids=did:plc:x', 'InvalidRequest', 'use dids'],
    ['wantedCollections=app.bsky.feed.like', 'InvalidRequest', 'use collections'],
    ['requireHello=true', 'InvalidRequest', 'server-push only'],
    ['compress=true', 'InvalidRequest', 'zstdDictionary'],
    ['zstdDictionary=12345', 'UnknownZstdDictionary', 'current dictionary id is'],
    ['zstdDictionary=banana', 'InvalidRequest', 'positive integer'],
    ['maxMessageSizeBytes=banana', 'InvalidRequest', 'maxMessageSizeBytes'],
    ['maxMessageSizeBytes=-1', 'InvalidRequest', 'maxMessageSizeBytes'],
    ['maxMessageSizeBytes=1&maxMessageSizeBytes=2', 'InvalidRequest', 'maxMessageSizeBytes'],
    ['cursor=yesterday', 'InvalidRequest', 'invalid cursor'],
    ['cursor=-1', 'InvalidRequest', 'negative value'],
  ])('?%s is refused with the envelope of %s', async (query, error, message) => {
    const { status, headers, body } = await client.shake(`?${query}`);
    expect([status, headers['content-type']]).toEqual([400, 'application/json']);
    expect(JSON.parse(String(body))).toEqual({ error, message: expect.stringContaining(message) });
  });

  test('a request without an upgrade gets the same errors, and 426 without one', async () => {
    const path = `${sandbox.url}/xrpc/network.bsky.jetstream.subscribeEvents`;
    const refused = await fetch(`${path}?kinds=likes`);
    expect(await refused.json()).toMatchObject({ error: 'InvalidRequest' });
    expect((await fetch(path)).status).toBe(426);
  });

  test('version 1 is refused with plain text', async () => {
    const { status, headers, body } = await client.shake('?wantedCollections=app', {}, '/subscribe');
    expect([status, headers['content-type']]).toEqual([400, 'text/plain; charset=utf-8']);
    expect(body).toContain('invalid collection: app');
  });

  test('an upgrade on another path is answered as a request without one', async () => {
    const { status } = await client.shake('', {}, '/sandbox/bluesky/state');
    expect(status).toBe(200);
  });

  test.each([
    ['xrpc.v1.json', 'xrpc.v1.json'],
    ['xrpc.v9.msgpack, xrpc.v1.json', 'xrpc.v1.json'],
    ['XRPC.V1.JSON', undefined],
    ['xrpc.v9.msgpack', undefined],
    [undefined, undefined],
  ])('of the subprotocols %s, the server takes %s', async (offered, taken) => {
    const { status, headers } = await client.shake(
      '',
      offered === undefined ? {} : { 'sec-websocket-protocol': offered },
    );
    expect([status, headers['sec-websocket-protocol']]).toEqual([101, taken]);
  });

  test('permessage-deflate is not negotiated', async () => {
    const { status, headers } = await client.shake('', { 'sec-websocket-extensions': 'permessage-deflate' });
    expect([status, headers['sec-websocket-extensions']]).toEqual([101, undefined]);
  });
});

describe('a cursor', () => {
  test('is inclusive, and without one the stream starts at the live tip', async () => {
    await client.post('one', 'two', 'three');
    const live = await client.open();
    const resumed = await client.open('?cursor=2');
    const all = await client.open('?cursor=0');
    expect(await resumed.posts(2)).toEqual(['two', 'three']);
    expect(await all.posts(3)).toEqual(['one', 'two', 'three']);
    await client.post('four');
    expect(await live.posts(1)).toEqual(['four']);
    expect(await resumed.posts(1)).toEqual(['four']);
  });

  test.each([['4'], ['6'], ['999999'], ['9000000000000000']])(
    'in the future, %s, is the live tip',
    async (cursor) => {
      await client.post('one', 'two', 'three');
      const stream = await client.open(`?cursor=${cursor}`);
      await client.post('four');
      expect(await stream.posts(1)).toEqual(['four']);
    },
  );

  test('of microseconds is the first event at that time or later, in both versions', async () => {
    await client.post('one');
    const [two] = await client.post('two', 'three');
    const cursor = `?cursor=${microsOf(textAt(two, 'time'))}`;
    expect(await (await client.open(cursor)).posts(2)).toEqual(['two', 'three']);
    expect(await (await client.openFirst(cursor)).posts(2)).toEqual(['two', 'three']);
  });

  test('below the floor is refused with the floor, and version 1 starts at the floor silently', async () => {
    await client.post('one', 'two');
    expect(await client.arm({ kind: 'cursor_too_old' })).toMatchObject({ fired: 1 });
    await client.post('three');
    const { status, body } = await client.shake('?cursor=2');
    expect(status).toBe(400);
    expect(JSON.parse(String(body))).toEqual({
      error: 'CursorTooOld',
      message: expect.stringMatching(/cursor 2 below lookback floor 3\b/),
    });
    expect(await (await client.open('?cursor=3')).posts(1)).toEqual(['three']);
    expect(await (await client.openFirst('?cursor=1')).posts(1)).toEqual(['three']);
  });

  test('of a time below the floor starts at the floor after an #info', async () => {
    const [one] = await client.post('one', 'two');
    await client.arm({ kind: 'cursor_too_old' });
    await client.post('three');
    const stream = await client.open(`?cursor=${microsOf(textAt(one, 'time'))}`);
    expect(await stream.frame()).toEqual({
      $type: 'message',
      payload: {
        $type: 'network.bsky.jetstream.subscribeEvents#info',
        name: 'OutdatedCursor',
        message: expect.stringContaining('starting at seq 3'),
      },
    });
    expect(await stream.posts(1)).toEqual(['three']);
  });

  test('of a time is outdated if the log is empty, unless it is in the future', async () => {
    await client.arm({ kind: 'cursor_too_old' });
    const past = await client.open('?cursor=1700000000000000');
    expect(at(await past.frame(), 'payload', 'name')).toBe('OutdatedCursor');
    const future = await client.open('?cursor=9000000000000000');
    await client.post('one');
    expect(await future.posts(1)).toEqual(['one']);
  });

  test('is too old after the lookback', async () => {
    await client.post('one');
    await client.turn({ lookback_ms: 0 });
    expect((await client.shake('?cursor=1')).status).toBe(400);
    await client.turn({ lookback_ms: null });
    expect((await client.shake('?cursor=1')).status).toBe(101);
  });
});

describe('filters', () => {
  const alice = 'did:plc:alice';
  const publishMixed = async () => {
    await client.inject('posts', [{ text: 'post', did: alice }]);
    await client.inject('commits', [
      { collection: 'app.bsky.feed.like', record: {} },
      { collection: 'app.bsky.graph.follow', record: {}, did: alice },
    ]);
    await client.inject('identities', [{ handle: 'bob.bsky.example' }]);
    await client.inject('accounts', [{ did: alice, active: false, status: 'deleted' }]);
  };
  /** The sequence numbers that arrive before the post with which the test ends. */
  const seqsOf = async (query: string) => {
    await publishMixed();
    await client.inject('posts', [{ text: 'end', did: alice }]);
    const stream = await client.open(`?cursor=1${query}`);
    const seqs: unknown[] = [];
    while (seqs.at(-1) !== 6) seqs.push(seqOf(await stream.frame()));
    return seqs.slice(0, -1);
  };

  test.each([
    ['', [1, 2, 3, 4, 5]],
    ['&kinds=commit', [1, 2, 3]],
    ['&kinds=commit&kinds=identity', [1, 2, 3, 4]],
    ['&collections=app.bsky.feed.post', [1, 4, 5]],
    ['&kinds=commit&collections=app.bsky.feed.post', [1]],
    ['&kinds=commit&collections=app.bsky.feed.*', [1, 2]],
    ['&dids=did:plc:alice', [1, 3, 5]],
  ])('%s selects the events %j', async (query, expected) => {
    expect(await seqsOf(query)).toEqual(expected);
  });

  test('maxMessageSizeBytes skips frames above that many bytes', async () => {
    await client.post('small', 'ü'.repeat(1_000), 'small too');
    const whole = await client.open('?cursor=1');
    const sizes = [await whole.text(), await whole.text()].map((text) => Buffer.byteLength(text ?? ''));
    const atLimit = await client.open(`?cursor=1&maxMessageSizeBytes=${sizes[1]}`);
    expect(await atLimit.posts(3)).toHaveLength(3);
    const below = await client.open(`?cursor=1&maxMessageSizeBytes=${Number(sizes[1]) - 1}`);
    expect(await below.posts(2)).toEqual(['small', 'small too']);
  });

  test('version 1 filters commits by wantedCollections and all events by wantedDids', async () => {
    await publishMixed();
    const stream = await client.openFirst(
      '?cursor=1&wantedCollections=app.bsky.feed.post&wantedDids=did:plc:alice',
    );
    const kinds = [await stream.frame(), await stream.frame()].map((frame) => at(frame, 'kind'));
    expect(kinds).toEqual(['commit', 'account']);
  });
});

describe('an open connection', () => {
  test('ends with 1008 when its client sends a frame; version 1 ignores the frame', async () => {
    const stream = await client.open();
    stream.send('{"type":"options_update"}');
    expect((await stream.end).code).toBe(1008);
    const first = await client.openFirst();
    first.send('{}');
    await client.post('still here');
    expect(await first.posts(1)).toEqual(['still here']);
  });

  test('is pinged, and ends if its client does not answer', async () => {
    await client.turn({ ping_ms: 20, write_timeout_ms: 200 });
    const answering = await client.open();
    const silent = await client.open('', undefined, { autoPong: false });
    await answering.ping();
    expect((await silent.end).code).toBe(1006);
    await answering.ping();
    expect(at(await client.connections(), 'open')).toBe(1);
  });

  test('ends if its client takes no bytes', async () => {
    await client.turn({ write_timeout_ms: 100 });
    const stream = await client.open();
    stream.webSocket.pause();
    await client.arm({ kind: 'big_frame', bytes: 20_000_000 });
    await client.post('large');
    await expect.poll(client.connections).toMatchObject({ open: 0 });
    stream.close();
  });

  test('is listed with its parameters and its position', async () => {
    await client.post('one');
    const stream = await client.open('?cursor=1&kinds=commit&collections=app.bsky.feed.*&dids=did:plc:alice');
    expect(await client.connections()).toMatchObject({
      open: 1,
      stalled: 0,
      list: [{ kinds: ['commit'], collections: ['app.bsky.feed.*'], dids: 1, next_seq: 2, frames_sent: 0 }],
    });
    stream.close();
    await eventually(client.connections, (connections) => at(connections, 'open') === 0);
  });

  test('closes with 1001 when the sandbox closes', async () => {
    const stream = await client.open();
    await sandbox.close();
    expect(await stream.end).toEqual({ code: 1001, reason: 'server shutting down' });
  });
});

test('the log has the uri and text of every post that was published or deleted', async () => {
  const posts = await client.post('one', 'two');
  await client.inject('commits', [{ collection: 'app.bsky.feed.like', record: {} }]);
  await client.inject('posts', [
    { text: 'one, edited', rkey: uriAt(posts).split('/').at(-1), operation: 'update' },
  ]);
  await client.inject('deletions', [{ uri: uriAt(posts, 1) }]);
  const { body } = await client.control('GET', '/bluesky/log?after=0&limit=3');
  expect(body).toMatchObject({
    posts: [
      { seq: 1, operation: 'create', uri: uriAt(posts), text: 'one' },
      { seq: 2, operation: 'create', uri: uriAt(posts, 1), text: 'two' },
      { seq: 4, operation: 'update', uri: uriAt(posts), text: 'one, edited' },
    ],
    next_after: 4,
  });
  const rest = await client.control('GET', '/bluesky/log?after=4');
  expect(rest.body).toMatchObject({
    posts: [{ seq: 5, operation: 'delete', uri: uriAt(posts, 1), text: null }],
    next_after: 5,
  });
});

test.each([
  ['posts', {}],
  ['posts', { text: 'x', rkey: 'a/b' }],
  ['posts', { text: 'x', did: 'alice' }],
  ['posts', { text: 'x', operation: 'delete' }],
  ['commits', { record: {} }],
  ['deletions', { uri: 'https://bsky.example/1' }],
  ['identities', {}],
  ['accounts', { active: 'yes' }],
])('%s refuses %j and publishes nothing of the batch', async (plural, wrong) => {
  const right = {
    text: 'x',
    collection: 'a.b.c',
    record: {},
    uri: 'at://did:plc:x/a.b.c/1',
    handle: 'a.example',
  };
  const { status } = await client.control('POST', `/bluesky/${plural}`, { [plural]: [right, wrong] });
  expect(status).toBe(400);
  expect(at((await client.control('GET', '/bluesky/state')).body, 'next_seq')).toBe(1);
});

test('the log of events is bounded, and a position before it is known to be lost', () => {
  const log = createEventLog();
  const frame = Buffer.alloc(0);
  for (let seq = 1; seq <= 220_002; seq += 1)
    log.append({ seq, timeUs: seq, kind: 'commit', did: '', collection: '', frame });
  expect(log.size()).toBe(200_001);
  expect([log.isDropped(20_001), log.isDropped(20_002)]).toEqual([true, false]);
  expect(log.at(20_002)?.seq).toBe(20_002);
  const nowUs = 300_000;
  expect(findStart(log, { cursor: '20001', nowUs, oldestUs: 0 })).toEqual({ kind: 'too_old', floor: 20_002 });
});
