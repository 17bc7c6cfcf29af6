import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Sandbox, startSandbox } from '../src/index.ts';
import { at, createClient, eventually, listAt, textAt } from './client.ts';

vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 });

let sandbox: Sandbox;
let client: ReturnType<typeof createClient>;

beforeEach(async () => {
  sandbox = await startSandbox({ ruleDelayMs: 0, slowReaderBytes: 1_000_000 });
  client = createClient(sandbox);
});
afterEach(() => sandbox.close());

const state = async () => (await client.control('GET', '/x/state?token=sandbox-x-token')).body;
const ids = (posts: unknown[]) => posts.map((post) => textAt(post, 'id'));

test('a post that matched without an open connection is undelivered', async () => {
  await client.addXRules('fjord');
  const [matched] = ids(await client.post('fjord', 'nothing'));
  expect(await state()).toMatchObject({ undelivered: [matched], unconfirmed: [], counters: { matched: 1 } });
});

test('a post written shortly before the connection broke off is unconfirmed', async () => {
  await client.addXRules('fjord');
  const stream = await client.openX();
  const [id] = ids(await client.post('fjord'));
  await client.arm({ kind: 'stream_cut', platform: 'x' });
  await stream.ended();
  expect(await state()).toMatchObject({ undelivered: [], unconfirmed: [id] });
});

test('a post written more than two seconds before the end is confirmed', async () => {
  await client.addXRules('fjord');
  const stream = await client.openX();
  await client.post('fjord');
  await stream.record();
  await new Promise((resolve) => setTimeout(resolve, 2_100));
  const [late] = ids(await client.post('fjord again'));
  await client.arm({ kind: 'stream_cut', platform: 'x' });
  await stream.ended();
  expect(await state()).toMatchObject({ unconfirmed: [late] });
});

test('a post that matched while the stream was stalled is undelivered', async () => {
  await client.addXRules('fjord');
  await client.openX();
  await client.arm({ kind: 'stream_stall' });
  const posts = await client.post('fjord');
  expect(posts).toMatchObject([{ delivered: false }]);
  expect(await state()).toMatchObject({ undelivered: ids(posts), connections: { open: 1, stalled: 1 } });
});

test('a reader that does not keep up is disconnected, and what it never got is unconfirmed', async () => {
  await client.addXRules('fjord');
  const stream = await client.openX();
  const sent: string[] = [];
  const text = `fjord ${'x'.repeat(20_000)}`;
  const openNow = async () => {
    sent.push(...ids(await client.post(...Array.from({ length: 50 }, () => text))));
    return at(await state(), 'connections', 'open');
  };
  await eventually(openNow, (open) => open === 0);
  const { body } = await client.x('GET', '/2/connections?status=inactive');
  expect(at(body, 'data', 0, 'disconnect_reason')).toBe('SlowReader');

  const got = new Set<unknown>();
  for (let record = await stream.record(); record !== undefined; record = await stream.record()) {
    got.add(at(record, 'data', 'id'));
  }
  const after = await state();
  const excused = new Set([...listAt(after, 'undelivered'), ...listAt(after, 'unconfirmed')]);
  expect(got.size).toBeLessThan(sent.length);
  expect(sent.filter((id) => !got.has(id) && !excused.has(id))).toEqual([]);
});

test('the log lists the matches in order, and can be read from any position', async () => {
  const [rule] = await client.addXRules('fjord');
  await client.post('fjord one', 'nothing', 'fjord two', 'fjord three');
  const first = (await client.control('GET', '/x/log?limit=2')).body;
  expect(first).toMatchObject({
    posts: [
      { seq: 1, text: 'fjord one', rule_ids: [rule], delivered: false, author: 'sandbox_user' },
      { seq: 2, text: 'fjord two' },
    ],
    next_after: 2,
  });
  const rest = (await client.control('GET', '/x/log?after=2')).body;
  expect(rest).toMatchObject({ posts: [{ seq: 3, text: 'fjord three' }], next_after: 3 });
});

test('a batch with a mistake changes nothing', async () => {
  await client.addXRules('fjord');
  const answer = await client.control('POST', '/x/posts', { posts: [{ text: 'fjord' }, { id: '1' }] });
  expect(answer).toMatchObject({ status: 400, body: { message: 'item 1: a post needs a text' } });
  expect(await state()).toMatchObject({ counters: { matched: 0 } });
});
