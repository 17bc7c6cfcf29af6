import { expect, test } from 'vitest';
import { keyOf, readFrame, timeOfId, uriOf } from './commit.ts';

const did = 'did:plc:4smmjsqf6l5jkzczvw6vsrqc';

/** Recorded from a public instance: internal/subscribe/testdata of bluesky-social/jetstream (MIT or Apache-2.0). */
const recorded = {
  post: '{"did":"did:plc:q235v55g5unth4zjjdpacfdr","time_us":1779719009157119,"kind":"commit","commit":{"rev":"3mmoojpaqkn2z","operation":"create","collection":"app.bsky.feed.post","rkey":"3mmoojp4cd223","record":{"$type":"app.bsky.feed.post","createdAt":"2026-05-25T14:23:28.757Z","langs":["en"],"text":"Try RSV for a good time !!"},"cid":"bafyreicl7rzkxdrm4zz2ehbx52kuk3mvfow6p3gzfys72r5grvskxoswy4"}}',
  deletion: `{"did":"${did}","time_us":1783175888377628,"kind":"commit","commit":{"rev":"3mptbypuw3t2q","operation":"delete","collection":"app.bsky.feed.post","rkey":"3mpt73z3ejc2p"}}`,
  identity:
    '{"did":"did:plc:g4ut2w5755qxi3fe7mfs72p4","time_us":1779719010267528,"kind":"identity","identity":{"did":"did:plc:g4ut2w5755qxi3fe7mfs72p4","seq":30340180350,"time":"2026-05-25T14:23:29.950Z"}}',
};

const type = 'network.bsky.jetstream.subscribeEvents';
const message = (kind: string, payload: object) =>
  JSON.stringify({ $type: 'message', payload: { $type: `${type}#${kind}`, ...payload } });
const change = {
  seq: 7,
  did,
  time: '2026-05-25T14:23:29.000042Z',
  rkey: '3k',
  collection: 'app.bsky.feed.post',
};

test('a recorded post of the older protocol', () => {
  const frame = readFrame(recorded.post);
  expect(frame).toMatchObject({
    kind: 'commit',
    commit: {
      id: '1779719009157119-0',
      operation: 'create',
      time: '2026-05-25T14:23:29.157Z',
      record: { text: 'Try RSV for a good time !!' },
    },
  });
});

test('a recorded deletion has no record', () => {
  expect(readFrame(recorded.deletion)).toMatchObject({
    kind: 'commit',
    commit: { operation: 'delete', did },
  });
});

test.each([
  ['an identity', recorded.identity, { kind: 'other', id: '1779719010267528-0' }],
  ['a like', recorded.post.replace('app.bsky.feed.post', 'app.bsky.feed.like'), { kind: 'other' }],
  [
    'a post',
    message('commit', { ...change, operation: 'create', cid: 'c', record: { text: 'a' } }),
    { kind: 'commit' },
  ],
  ['a deletion', message('commit', { ...change, operation: 'delete' }), { kind: 'commit' }],
  ['an account', message('account', { seq: 8, did, time: change.time, account: {} }), { kind: 'other' }],
  ['an outdated cursor', message('info', { name: 'OutdatedCursor' }), { kind: 'outdated' }],
  ['another notice', message('info', { name: 'Surprise' }), { kind: 'other', id: null }],
  [
    'the end',
    '{"$type":"error","error":"ConsumerTooSlow","message":"too slow"}',
    { kind: 'error', name: 'ConsumerTooSlow', message: 'too slow' },
  ],
])('%s', (_name, text, expected) => {
  expect(readFrame(text)).toMatchObject(expected);
});

test.each([
  'nonsense',
  'null',
  '[]',
  '{"$type":"message"}',
  message('commit', { ...change, operation: 'like' }),
  message('commit', { ...change, operation: 'create', time: 'yesterday' }),
  message('commit', { ...change, operation: 'create', seq: 'seven' }),
  message('commit', { ...change, operation: 'create', did: 7 }),
])('a frame of an unknown shape: %s', (text) => {
  expect(readFrame(text)).toBeNull();
});

test('the id has the time in microseconds, from which any instance resumes', () => {
  const frame = readFrame(message('commit', { ...change, operation: 'create' }));
  const id = frame?.kind === 'commit' ? frame.commit.id : '';
  expect(id).toBe(`${Date.parse('2026-05-25T14:23:29.000Z')}042-7`);
  expect(timeOfId(id)).toEqual(new Date('2026-05-25T14:23:29.000Z'));
  expect(timeOfId('nonsense')).toBeNull();
  const short = readFrame(
    message('commit', { ...change, operation: 'create', time: '2026-05-25T14:23:29.5Z' }),
  );
  expect(short).toMatchObject({ commit: { id: `${Date.parse('2026-05-25T14:23:29.500Z')}000-7` } });
});

test('all versions of a post have the same key', () => {
  const uri = uriOf({ did, rkey: '3k' });
  expect(uri).toBe(`at://${did}/app.bsky.feed.post/3k`);
  expect(keyOf(uri)).toBe(keyOf(uri));
  expect(keyOf(uri)).not.toBe(keyOf(`${uri}l`));
});
