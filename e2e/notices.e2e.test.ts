import { randomBytes } from 'node:crypto';
import { operations } from '@earshot/contract';
import { createEarshot, type Notice, verifyWebhook, type WebhookMessage } from '@earshot/sdk';
import { connectSse, eventually } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Api } from './src/api.ts';
import { startReceiver } from './src/webhook-receiver.ts';
import { type Account, type ServerUnderTest, startWorld, type World } from './src/world.ts';

const within = { timeoutMs: 60_000 };
let world: World;
let server: ServerUnderTest;
let alice: Account;
let asAlice: Api;
let bob: Account;
beforeAll(async () => {
  world = await startWorld();
  server = await world.startServer({
    EARSHOT_SECRETS_KEY: randomBytes(32).toString('base64'),
    EARSHOT_TEST: 'allowInsecureWebhooks=true',
  });
  alice = await world.newAccount('alice');
  asAlice = server.api(alice);
  bob = await world.newAccount('bob');
});
afterAll(() => world?.[Symbol.asyncDispose]());

async function list(api: Api, request: object) {
  const { status, json } = await api.call('POST', '/notices', request);
  expect({ status, json }).toMatchObject({ status: 200 });
  return operations.ListNotices.answer.parse(json);
}

const shown = ({ type, subject, resolved_at }: Notice) =>
  `${type} ${subject.id}${resolved_at === null ? '' : ' resolved'}`;

test('an expired rule is reported by list, long poll, stream, client, named reader and webhook, and again when it is resolved', async () => {
  await using receiver = await startReceiver();
  const { rule_id } = await asAlice.createRule({ x: 'brief' });
  const created = await asAlice.call('POST', '/api.CreateWebhook', {
    name: 'notices',
    url: receiver.url,
    events: ['notices'],
  });
  const { secret } = operations.CreateWebhook.answer.parse(created.json);
  const streamed: Notice[] = [];
  const stream = connectSse(new URL('/notices/stream', server.url), {
    headers: { authorization: `Bearer ${alice.key}` },
    onEvent: ({ event, data }) => {
      if (event === 'notice') streamed.push(JSON.parse(data));
    },
  });
  const followed: Notice[] = [];
  const stop = new AbortController();
  const earshot = createEarshot({ url: server.url, key: alice.key });
  const following = (async () => {
    const followedNotices = earshot.followNotices({}, { signal: stop.signal });
    for await (const notice of followedNotices) followed.push(notice);
  })().catch(() => undefined);
  const begun = await list(asAlice, { order: 'oldest', limit: 100 });
  const polling = list(asAlice, { order: 'oldest', cursor: begun.next_cursor, wait_seconds: 30 });
  // A follower has started when it has received its first cursor.
  await new Promise((resolve) => setTimeout(resolve, 500));
  await asAlice.updateRule(rule_id, { expires_at: new Date(Date.now() + 1_000).toISOString() });

  const polled = await polling;
  const expected = `rule.expired ${rule_id}`;
  expect(polled.notices.map(shown)).toEqual([expected]);
  await eventually(() => expect(streamed.map(shown)).toEqual([expected]), within);
  await eventually(() => expect(followed.map(shown)).toEqual([expected]), within);
  const read = async () => {
    const { json } = await asAlice.call('POST', '/api.ReadMatches', {
      reader: 'notices',
      of: 'notices',
      start: 'oldest',
    });
    return operations.ReadMatches.answer.parse(json);
  };
  const first = await read();
  expect(first.notices?.map(shown)).toContain(expected);
  expect((await read()).notices).toEqual(first.notices);
  await asAlice.call('POST', '/api.AckMatches', { reader: 'notices', cursor: first.cursor });
  expect((await read()).notices).toEqual([]);
  const other = await asAlice.call('POST', '/api.ReadMatches', { reader: 'notices' });
  expect(other.status).toBe(409);

  // A notice that is resolved before it is sent is sent once, as resolved.
  await eventually(() => expect(receiver.messages).toHaveLength(1), within);
  await asAlice.deleteRule(rule_id);
  const over = [expected, `${expected} resolved`];
  await eventually(() => expect(streamed.map(shown)).toEqual(over), within);
  await eventually(() => expect(followed.map(shown)).toEqual(over), within);
  expect((await read()).notices?.map(shown)).toEqual(over.slice(1));
  const messages = async () => {
    const verified = receiver.messages.map((message) => verifyWebhook({ ...message, secret: secret ?? '' }));
    const all: WebhookMessage[] = (await Promise.all(verified)).map(({ message }) => message);
    return all.map((message) => (message.type === 'notice' ? shown(message.notice) : message.type));
  };
  await eventually(async () => expect(await messages()).toEqual(over), within);
  expect((await list(asAlice, { open: true })).notices.map(shown)).not.toContain(expected);
  expect((await list(server.api(bob), {})).notices).toEqual([]);
  stream.cut();
  stop.abort();
  await following;
});
