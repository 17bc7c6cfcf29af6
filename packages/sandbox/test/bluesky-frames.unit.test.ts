import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { cidOf, didOf } from '../src/bluesky/ids.ts';
import { createBlueskyWriter } from '../src/feed/bluesky-posts.ts';
import { isJsonObject } from '../src/http/json.ts';
import { type Sandbox, startSandbox } from '../src/index.ts';
import { createRandom } from '../src/random.ts';
import { createBlueskyClient, eventsPath } from './bluesky-client.ts';
import { at, listAt, textAt } from './client.ts';
import { errorFrame, frameWithCursor, messageFrame, recordedFrames } from './recorded-jetstream-frames.ts';

let sandbox: Sandbox;
let client: ReturnType<typeof createBlueskyClient>;

beforeEach(async () => {
  sandbox = await startSandbox();
  client = createBlueskyClient(sandbox);
});
afterEach(() => sandbox.close());

/** What a string is, so that two frames with different values can be compared. */
const formats: ReadonlyArray<readonly [name: string, pattern: RegExp]> = [
  ['did', /^did:plc:[a-z2-7]{24}$/],
  ['record cid', /^bafyrei[a-z2-7]{52}$/],
  ['blob cid', /^bafkrei[a-z2-7]{52}$/],
  ['tid', /^[2-7a-j][2-7a-z]{12}$/],
  ['at-uri', /^at:\/\/did:plc:[a-z2-7]{24}\/[\w.]+\/[2-7a-j][2-7a-z]{12}$/],
  ['microseconds', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/],
  ['milliseconds', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/],
  ['uri', /^https?:\/\//],
];
const named = new Set(['$type', 'kind', 'operation', 'mimeType']);

/** Every path of a value with what stands there, for example `commit.rev: tid`. */
function pathsOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => pathsOf(one, `${path}[]`));
  if (isJsonObject(value))
    return Object.entries(value).flatMap(([key, one]) =>
      named.has(key) ? [`${path}.${key} = ${String(one)}`] : pathsOf(one, `${path}.${key}`),
    );
  if (typeof value !== 'string') return [`${path}: ${Number.isInteger(value) ? 'integer' : typeof value}`];
  const format = formats.find(([, pattern]) => pattern.test(value))?.[0] ?? 'text';
  return [`${path}: ${format}`];
}

const withoutValues = (frame: string) =>
  frame
    .replace(/"(time_us|seq)":\d+/g, '"$1":0')
    .replace(/"rev":"\w{13}"/, '"rev":""')
    .replace(/"cid":"\w{59}"\}\}$/, '"cid":""}}')
    .replace(/"time":"[\d-]+T[\d:]+\.\d{3}Z"/, '"time":""');

/** Publishes what a recorded frame shows. */
async function republish(frame: unknown): Promise<void> {
  const did = textAt(frame, 'did');
  const kind = textAt(frame, 'kind');
  if (kind !== 'commit') {
    await client.inject('accounts', [{ did }]);
    return;
  }
  const collection = textAt(frame, 'commit', 'collection');
  const rkey = textAt(frame, 'commit', 'rkey');
  const record = at(frame, 'commit', 'record');
  if (record === undefined) await client.inject('deletions', [{ uri: `at://${did}/${collection}/${rkey}` }]);
  else await client.inject('commits', [{ did, collection, rkey, record }]);
}

/** The current server sorts the keys of blobs; the one of the recordings wrote `ref` first. */
const withSortedBlobs = (frame: string) =>
  frame.replaceAll(/("ref":\{[^}]*\}),("mimeType":"[^"]*")/g, '$2,$1');

describe('the frames of version 1', () => {
  const commitsAndAccounts = recordedFrames.flatMap((frame) => {
    const { kind, did, commit } = JSON.parse(frame);
    const name = `${kind} ${commit?.operation ?? ''} ${commit?.collection ?? did} ${commit?.rkey ?? ''}`;
    return kind === 'identity' ? [] : [{ name, frame }];
  });

  test.each(commitsAndAccounts)(
    'are byte by byte as recorded, apart from times and hashes: $name',
    async ({ frame }) => {
      await client.turn({ v1_cursor: 'absent' });
      const stream = await client.openFirst();
      await republish(JSON.parse(frame));
      const sent = (await stream.text()) ?? '';
      expect(withoutValues(sent)).toBe(withoutValues(withSortedBlobs(frame)));
      expect(pathsOf(JSON.parse(sent))).toEqual(pathsOf(JSON.parse(withSortedBlobs(frame))));
    },
  );

  test('have an identity as recorded, with the handle that the lexicon allows', async () => {
    await client.turn({ v1_cursor: 'absent' });
    const stream = await client.openFirst();
    const recorded = recordedFrames.find((frame) => frame.includes('"kind":"identity"')) ?? '';
    await client.inject('identities', [{ did: at(JSON.parse(recorded), 'did'), handle: 'a.example' }]);
    const sent = (await stream.text()) ?? '';
    expect(sent).toContain('"handle":"a.example",');
    expect(withoutValues(sent.replace('"handle":"a.example",', ''))).toBe(withoutValues(recorded));
  });

  test('have a cursor after the time on the current server', async () => {
    const stream = await client.openFirst();
    await client.post('one');
    const sent: unknown = await stream.frame();
    expect(Object.keys(Object(sent))).toEqual(Object.keys(JSON.parse(frameWithCursor)));
    expect(at(sent, 'cursor')).toBe(1);
  });
});

describe('the frames of version 2', () => {
  test('have the fields and formats of the documented example', async () => {
    const stream = await client.open();
    await client.inject('commits', [
      { collection: 'app.bsky.feed.like', record: { $type: 'app.bsky.feed.like' } },
    ]);
    const sent = await stream.frame();
    expect(pathsOf(sent).toSorted()).toEqual(pathsOf(messageFrame).toSorted());
    expect(Object.keys(Object(sent))).toEqual(Object.keys(messageFrame));
  });

  test('sort their keys, so that the record comes before seq', async () => {
    const stream = await client.open();
    await client.inject('posts', [{ text: '<&>', seq: 7 }]);
    const text = (await stream.text()) ?? '';
    const keys = Object.keys(Object(at(JSON.parse(text), 'payload')));
    expect(keys).toEqual('$type,cid,collection,did,operation,record,rev,rkey,seq,time'.split(','));
    expect(text).toContain(String.raw`"seq":7,"text":"\u003c\u0026\u003e"}`);
  });

  test('wrap identities and accounts as version 1 does, and omit record and cid of a deletion', async () => {
    const recorded = recordedFrames.map((frame): unknown => JSON.parse(frame));
    const stream = await client.open();
    await client.inject('accounts', [{ active: true }]);
    const account = recorded.find((frame) => at(frame, 'kind') === 'account');
    expect(pathsOf(at(await stream.frame(), 'payload', 'account'))).toEqual(pathsOf(at(account, 'account')));
    await client.inject('deletions', [{ uri: `at://${didOf('a')}/app.bsky.feed.post/3mpt73z3ejc2p` }]);
    const payload = at(await stream.frame(), 'payload');
    expect(Object.keys(Object(payload))).toEqual(
      '$type,collection,did,operation,rev,rkey,seq,time'.split(','),
    );
  });

  test('have errors as documented', async () => {
    const stream = await client.open();
    await client.arm({ kind: 'stream_control' });
    expect(pathsOf(await stream.frame())).toEqual(pathsOf(errorFrame));
  });

  test('carry the times and seqs of version 1', async () => {
    const [first, second] = [await client.openFirst(), await client.open()];
    await client.post('one', 'two');
    for (const seq of [1, 2]) {
      const [one, two] = [await first.frame(), await second.frame()];
      expect([at(one, 'cursor'), at(two, 'payload', 'seq')]).toEqual([seq, seq]);
      const time = textAt(two, 'payload', 'time');
      expect(at(one, 'time_us')).toBe(Date.parse(time) * 1_000 + Number(time.slice(-4, -1)));
    }
  });
});

/** The recordings have no quote, no mention and no handle; these are as in the lexicons. */
const notRecorded = [
  '.commit.record.embed.$type = app.bsky.embed.record',
  '.commit.record.embed.record.cid: record cid',
  '.commit.record.embed.record.uri: at-uri',
  '.commit.record.facets[].features[].$type = app.bsky.richtext.facet#mention',
  '.commit.record.facets[].features[].did: did',
  '.identity.handle: text',
];

describe('the feed', () => {
  test('publishes nothing that the recordings do not have, and everything that they have of posts', async () => {
    await client.turn({ v1_cursor: 'absent' });
    const stream = await client.openFirst();
    await client.control('POST', '/bluesky/feed', { posts_per_second: 10_000 });
    const seen = new Set<string>();
    for (let count = 0; count < 3_000; count += 1)
      for (const path of pathsOf(await stream.frame())) seen.add(path);
    await client.control('POST', '/bluesky/feed', { posts_per_second: 0 });
    const recorded = new Set(recordedFrames.flatMap((frame) => pathsOf(JSON.parse(frame))));
    expect([...seen].filter((path) => !recorded.has(path)).toSorted()).toEqual(notRecorded);
    const missing = [...recorded].filter((path) => !seen.has(path) && !path.includes('account'));
    expect(missing).toEqual([]);
  });

  test('marks tags, links and mentions with UTF-8 offsets', async () => {
    const stream = await client.open();
    await client.post('Grüße 🚀 an @ana.bsky.example: #Rakete, https://t.example/ä?');
    const record = at(await stream.frame(), 'payload', 'record');
    const bytes = Buffer.from(textAt(record, 'text'));
    const marked = listAt(record, 'facets').map((facet) => [
      bytes
        .subarray(Number(at(facet, 'index', 'byteStart')), Number(at(facet, 'index', 'byteEnd')))
        .toString(),
      at(facet, 'features', 0),
    ]);
    expect(marked).toEqual([
      ['@ana.bsky.example', { $type: 'app.bsky.richtext.facet#mention', did: didOf('ana.bsky.example') }],
      ['#Rakete', { $type: 'app.bsky.richtext.facet#tag', tag: 'Rakete' }],
      ['https://t.example/ä', { $type: 'app.bsky.richtext.facet#link', uri: 'https://t.example/ä' }],
    ]);
  });

  test('depends only on the seed', () => {
    const write = (seed: number) => {
      const writer = createBlueskyWriter(createRandom(seed));
      const uri = 'at://did:plc:x/app.bsky.feed.post/1';
      const earlier = { uri, cid: 'c', did: 'did:plc:x', lang: 'en', handle: 'x.example', root: undefined };
      return Array.from({ length: 50 }, () => [
        writer.writePost(earlier, 0),
        writer.writeOthers(earlier, 0),
        writer.isDeletion(),
      ]);
    };
    expect(write(7)).toEqual(write(7));
    expect(write(7)).not.toEqual(write(8));
  });

  test('deletes earlier posts, and the log knows all', async () => {
    const stream = await client.open('?kinds=commit&collections=app.bsky.feed.post', eventsPath);
    await client.control('POST', '/bluesky/feed', { posts_per_second: 2_000 });
    const sent: unknown[] = [];
    while (sent.length < 500) sent.push(at(await stream.frame(), 'payload'));
    const { body } = await client.control('GET', '/bluesky/log?limit=500');
    const uris = sent.map((commit) => {
      const { did, collection, rkey } = Object(commit);
      return [at(commit, 'operation'), `at://${did}/${collection}/${rkey}`];
    });
    expect(uris).toEqual(listAt(body, 'posts').map((post) => [at(post, 'operation'), at(post, 'uri')]));
    const created = new Set(uris.filter(([operation]) => operation === 'create').map(([, uri]) => uri));
    const deleted = uris.filter(([operation]) => operation === 'delete').map(([, uri]) => uri);
    expect(deleted.length).toBeGreaterThan(5);
    expect(deleted.filter((uri) => !created.has(uri))).toEqual([]);
  });
});

test('a CID of a blob has the known form', () => {
  // SHA-256 of the empty string, as every implementation encodes it.
  expect(cidOf('blob', '')).toBe('bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku');
});
