import { randomBytes } from 'node:crypto';
import { type OperationId, operations } from '@earshot/contract';
import { eventually } from '@earshot/testkit';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Api } from './src/api.ts';
import { readShellBlocks } from './src/page-blocks.ts';
import { startReceiver } from './src/webhook-receiver.ts';
import { startWorld, type World } from './src/world.ts';

const env = {
  EARSHOT_SECRETS_KEY: randomBytes(32).toString('base64'),
  EARSHOT_TEST: 'allowInsecureWebhooks=true',
};
const within = { timeoutMs: 120_000 };

async function call<Id extends OperationId>(api: Api, id: Id, request: object) {
  const answer = await api.call('POST', `/api.${id}`, request);
  expect(answer).toMatchObject({ status: 200 });
  return operations[id].answer.parse(answer.json) as ReturnType<(typeof operations)[Id]['answer']['parse']>;
}

let world: World;
let alice: Api;
let bob: Api;
let webhook_id: string;
beforeAll(async () => {
  world = await startWorld();
  const server = await world.startServer({
    ...env,
    EARSHOT_SMTP_URL: 'smtp://127.0.0.1:9',
    EARSHOT_MAIL_FROM: 'earshot@example.net',
    EARSHOT_MAIL_TO: '@example.com',
  });
  await world.admin.setPlanLimits('paid', { digests: 2 });
  alice = server.api(await world.newAccount('alice'));
  bob = server.api(await world.newAccount('bob'));
  ({ webhook_id } = await call(alice, 'CreateWebhook', {
    name: 'hook',
    url: 'http://127.0.0.1:9/',
    events: ['notices'],
  }));
});
afterAll(() => world?.[Symbol.asyncDispose]());

const schedule = { window_seconds: 60 };
const answerOf = async (api: Api, id: OperationId, request: object) => {
  const { status, json } = await api.call('POST', `/api.${id}`, request);
  return { status, code: Object(json).code, text: JSON.stringify(json) };
};

test('the matches of a window arrive as one digest message, signed and numbered', async () => {
  await using receiver = await startReceiver();
  await alice.createRule({ x: 'tremor' });
  const hook = { name: 'digests', url: receiver.url, events: ['notices'] };
  const { webhook_id: receiving, secret } = await call(alice, 'CreateWebhook', hook);
  const digest = await call(alice, 'CreateDigest', {
    name: 'windows',
    schedule,
    recipients: { webhook_id: receiving },
  });
  await world.sandbox.posts(['tremor one', 'tremor two']);
  const matches = await eventually(async () => {
    const listed = await alice.allMatches();
    expect(listed).toHaveLength(2);
    return listed;
  }, within);
  // As if the window had ended.
  await world.database.query(`update digests set next_at = now() where name = 'windows'`);
  await eventually(() => expect(receiver.messages).toHaveLength(1), within);
  const [{ body, headers } = { body: '', headers: {} }] = receiver.messages;
  expect(new Webhook(secret ?? '').verify(body, headers)).toMatchObject({
    type: 'digest',
    digest_id: digest.id,
    number: 1,
    total: 2,
    matches: matches.toReversed().map(({ id }) => ({ id })),
  });
  await eventually(async () => {
    const { digests } = await call(alice, 'ListDigests', {});
    expect(digests).toMatchObject([{ id: digest.id, message: null, last_sent_at: expect.any(String) }]);
  }, within);
  await call(alice, 'DeleteDigest', { digest_id: digest.id });
});

test('creates, lists, changes and deletes digests, and audits each change', async () => {
  const created = await call(alice, 'CreateDigest', {
    name: 'morning',
    schedule: { cron: '0 9 * * *', time_zone: 'America/New_York' },
    recipients: { webhook_id },
  });
  expect(created).toMatchObject({
    min_matches: 1,
    empty: 'skip',
    max_matches: 50,
    last_number: 0,
    message: null,
  });
  const local = new Date(created.next_at).toLocaleTimeString('en-GB', { timeZone: 'America/New_York' });
  expect(local).toBe('09:00:00');
  const digest_id = created.id;
  const changed = await call(alice, 'UpdateDigest', { digest_id, name: 'often', schedule, empty: 'send' });
  expect(changed).toMatchObject({ name: 'often', schedule, empty: 'send', recipients: { webhook_id } });
  expect((await call(alice, 'ListDigests', {})).digests).toEqual([changed]);
  expect(await answerOf(alice, 'DeleteWebhook', { webhook_id })).toMatchObject({
    status: 400,
    code: 'failed_precondition',
  });
  await call(alice, 'DeleteDigest', { digest_id });
  expect((await call(alice, 'ListDigests', {})).digests).toEqual([]);
  const audit = (await call(alice, 'ListAudit', {})).entries.filter((one) => one.target_id === digest_id);
  expect(audit.map(({ operation }) => operation).toReversed()).toEqual([
    'CreateDigest',
    'UpdateDigest',
    'DeleteDigest',
  ]);
});

test('the request in docs/digests.md creates an e-mail digest, if the operator allows the address', async () => {
  const [block = ''] = await readShellBlocks('docs/digests.md');
  const request = JSON.parse(/-d '(.*)'/.exec(block)?.[1] ?? '');
  const { id, recipients } = await call(alice, 'CreateDigest', request);
  expect(recipients).toEqual({ email: ['team@example.com'] });
  const elsewhere = { ...request, name: 'elsewhere', recipients: { email: ['team@example.org'] } };
  expect(await answerOf(alice, 'CreateDigest', elsewhere)).toMatchObject({
    status: 400,
    code: 'invalid_argument',
  });
  await call(alice, 'DeleteDigest', { digest_id: id });
});

test("another account's digest or webhook is not found, names are unique, and there is a limit", async () => {
  const { id } = await call(alice, 'CreateDigest', { name: 'mine', schedule, recipients: { webhook_id } });
  const unknown = `dig_${'0'.repeat(id.length - 4)}`;
  for (const [operation, rest] of [
    ['UpdateDigest', { empty: 'skip' }],
    ['DeleteDigest', {}],
  ] as const) {
    const foreign = await answerOf(bob, operation, { ...rest, digest_id: id });
    expect(foreign).toMatchObject({ status: 404, code: 'not_found' });
    const none = await answerOf(bob, operation, { ...rest, digest_id: unknown });
    const withoutRequest = ({ text }: { text: string }) => text.replace(/req_\w+/g, '');
    expect(withoutRequest(foreign)).toBe(withoutRequest(none));
  }
  expect(
    await answerOf(bob, 'CreateDigest', { name: 'a', schedule, recipients: { webhook_id } }),
  ).toMatchObject({
    code: 'not_found',
  });
  expect(
    await answerOf(alice, 'CreateDigest', { name: 'mine', schedule, recipients: { webhook_id } }),
  ).toMatchObject({ code: 'already_exists' });
  await call(alice, 'CreateDigest', { name: 'second', schedule, recipients: { webhook_id } });
  expect(
    await answerOf(alice, 'CreateDigest', { name: 'third', schedule, recipients: { webhook_id } }),
  ).toMatchObject({ code: 'resource_exhausted' });
  expect((await call(bob, 'ListDigests', {})).digests).toEqual([]);
});
