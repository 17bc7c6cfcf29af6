import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { type OperationId, operations } from '@earshot/contract';
import { eventually } from '@earshot/testkit';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Api } from './src/api.ts';
import { overHttp, startAgent } from './src/mcp-agent.ts';
import { type Message, startReceiver } from './src/webhook-receiver.ts';
import { type Account, type ServerUnderTest, startWorld, type World } from './src/world.ts';

const run = promisify(execFile);
const within = { timeoutMs: 60_000 };
const key = randomBytes(32);
const env = {
  EARSHOT_SECRETS_KEY: key.toString('base64'),
  EARSHOT_TEST: 'allowInsecureWebhooks=true',
};

async function call<Id extends OperationId>(api: Api, id: Id, request: object) {
  const answer = await api.call('POST', `/api.${id}`, request);
  expect(answer).toMatchObject({ status: 200 });
  return operations[id].answer.parse(answer.json) as ReturnType<(typeof operations)[Id]['answer']['parse']>;
}

const verify = (secret: string | null, { body, headers }: Message) =>
  Object(new Webhook(secret ?? '').verify(body, headers));

let world: World;
let server: ServerUnderTest;
let alice: Account;
let asAlice: Api;
let asBob: Api;
beforeAll(async () => {
  world = await startWorld();
  await world.admin.setPlanLimits('paid', { webhooks: 5 });
  server = await world.startServer(env);
  alice = await world.newAccount('alice');
  asAlice = server.api(alice);
  asBob = server.api(await world.newAccount('bob'));
});
afterAll(() => world?.[Symbol.asyncDispose]());

test('a match travels from the platform to the endpoint, with the same content as in the list', async () => {
  await using receiver = await startReceiver();
  const { rule_id } = await asAlice.createRule({ x: 'aurora' });
  const { webhook_id, secret } = await call(asAlice, 'CreateWebhook', {
    name: 'whole way',
    url: receiver.url,
    rule_ids: [rule_id],
  });
  expect(await call(asAlice, 'TestWebhook', { webhook_id })).toMatchObject({
    outcome: 'delivered',
    status: 200,
    response: 'thank you',
  });
  expect(verify(secret, receiver.messages[0] ?? { body: '', headers: {} })).toEqual({
    type: 'test',
    webhook_id,
  });

  await world.sandbox.posts(['an aurora over the town']);
  await eventually(() => expect(receiver.messages).toHaveLength(2), within);
  const listed = await asAlice.matches({ rule_id });
  const [, message] = receiver.messages;
  expect(message && verify(secret, message)).toEqual({
    type: 'matches',
    webhook_id,
    matches: listed.matches,
  });
  await eventually(async () => {
    const { deliveries } = await call(asAlice, 'ListDeliveries', { webhook_id });
    expect(deliveries).toMatchObject([
      { outcome: 'delivered', status: 200, response: 'thank you', first_match_id: listed.matches[0]?.id },
    ]);
  }, within);

  const rotated = await call(asAlice, 'RotateWebhookSecret', { webhook_id });
  const day = Date.parse(rotated.previous_expires_at) - Date.now();
  expect(Math.abs(day - 24 * 3_600_000)).toBeLessThan(60_000);
  expect(await call(asAlice, 'ReplayWebhook', { webhook_id, from: '2026-01-01T00:00:00Z' })).toEqual({
    webhook_id,
    from_match_id: listed.matches[0]?.id,
  });
  await eventually(() => expect(receiver.messages).toHaveLength(3), within);
  const again = receiver.messages[2];
  for (const valid of [secret, rotated.secret])
    expect(again && verify(valid, again)).toEqual({ type: 'matches', webhook_id, matches: listed.matches });

  await call(asAlice, 'UpdateWebhook', { webhook_id, state: 'paused', name: 'renamed' });
  expect((await call(asAlice, 'ListWebhooks', {})).webhooks).toMatchObject([
    { id: webhook_id, name: 'renamed', state: 'paused', rule_ids: [rule_id] },
  ]);
  await call(asAlice, 'DeleteWebhook', { webhook_id });
  expect((await call(asAlice, 'ListWebhooks', {})).webhooks).toEqual([]);
  const audit = (await call(asAlice, 'ListAudit', {})).entries.filter((one) => one.target_id === webhook_id);
  expect(audit.map(({ operation }) => operation).toReversed()).toEqual([
    'CreateWebhook',
    'TestWebhook',
    'RotateWebhookSecret',
    'ReplayWebhook',
    'UpdateWebhook',
    'DeleteWebhook',
  ]);
  expect(JSON.stringify(audit)).not.toContain('whsec_');
});

test('an agent adds a rule to a webhook by its name, and does not learn its URL', async () => {
  await using receiver = await startReceiver();
  const first = await asAlice.createRule({ x: 'meteor' });
  const second = await asAlice.createRule({ x: 'eclipse' });
  const hook = { name: 'for agents', url: receiver.url, rule_ids: [first.rule_id] };
  const { webhook_id } = await call(asAlice, 'CreateWebhook', hook);
  await world.sandbox.posts(['a meteor']);
  await eventually(async () => {
    const { deliveries } = await call(asAlice, 'ListDeliveries', { webhook_id });
    expect(deliveries).toHaveLength(1);
  }, within);
  await using agent = await startAgent(overHttp({ url: server.url, key: alice.key }));
  const notifyBy = (destination: string) =>
    agent.callRaw('notify_by', { rule_id: second.rule_id, destination });
  const unknown = await notifyBy('agents');
  expect(unknown.refusal?.violations?.[0]?.message).toContain('webhook "for agents"');
  const { text } = await notifyBy('for agents');
  expect(text).toMatch(/^Matches of ".*" are posted to webhook "for agents" from now on\.$/);
  expect((await notifyBy(webhook_id)).text).toContain('Nothing changed.');
  expect(`${unknown.text} ${text}`).not.toContain('127.0.0.1');
  await world.sandbox.posts(['an eclipse', 'another meteor']);
  const sent = () => receiver.messages.flatMap(({ body }) => Object(JSON.parse(body)).matches);
  await eventually(() => expect(sent()).toHaveLength(3), within);
  const of = (id: string) => sent().filter((match) => match.rule_id === id).length;
  expect([of(first.rule_id), of(second.rule_id)]).toEqual([2, 1]);
  await call(asAlice, 'DeleteWebhook', { webhook_id });
});

test('the secret is shown once, and a database dump and the log contain nothing that could sign', async () => {
  const request = { name: 'secret', url: 'https://hooks.example/secret' };
  const again = { 'idempotency-key': 'one-webhook' };
  const first = await asAlice.call('POST', '/api.CreateWebhook', request, again);
  const { secret, ...rest } = operations.CreateWebhook.answer.parse(first.json);
  const second = await asAlice.call('POST', '/api.CreateWebhook', request, again);
  expect(second.json).toEqual({ ...rest, secret: null });
  const rotated = await call(asAlice, 'RotateWebhookSecret', { webhook_id: rest.webhook_id });

  const { stdout: dump } = await run('pg_dump', ['--data-only', world.databaseUrl]);
  expect(dump).toContain(rest.webhook_id);
  const log = await world.serverLog();
  for (const one of [secret, rotated.secret]) {
    const text = (one ?? '').slice('whsec_'.length);
    expect(text).toHaveLength(44);
    const bytes = Buffer.from(text, 'base64');
    for (const form of [
      text,
      bytes.toString('hex'),
      Buffer.from(text).toString('hex'),
      bytes.toString('base64url'),
    ]) {
      expect(dump).not.toContain(form);
      expect(log).not.toContain(form);
    }
  }
  for (const form of [key.toString('hex'), key.toString('base64')]) expect(dump).not.toContain(form);
  await call(asAlice, 'DeleteWebhook', { webhook_id: rest.webhook_id });
});

test('a chat gets no secret, because its messages are not signed', async () => {
  const request = { name: 'chat', url: 'https://hooks.example/chat', format: 'slack' };
  const { webhook_id, secret } = await call(asAlice, 'CreateWebhook', request);
  expect(secret).toBeNull();
  const refused = await asAlice.call('POST', '/api.RotateWebhookSecret', { webhook_id });
  expect(refused.json).toMatchObject({ code: 'failed_precondition', details: { reason: 'not_signed' } });
  const program = { webhook_id, format: 'standard', url: 'https://hooks.example/program' };
  await call(asAlice, 'UpdateWebhook', program);
  expect((await call(asAlice, 'RotateWebhookSecret', { webhook_id })).secret).toMatch(/^whsec_/);
  await call(asAlice, 'DeleteWebhook', { webhook_id });
});

test('a webhook of another account answers, byte for byte, like an unknown one', async () => {
  const { webhook_id } = await call(asAlice, 'CreateWebhook', {
    name: 'mine',
    url: 'https://hooks.example/',
  });
  const unknown = `whk_${'0'.repeat(webhook_id.length - 'whk_'.length)}`;
  const from = '2026-01-01T00:00:00Z';
  const requests: ReadonlyArray<readonly [string, object]> = [
    ['UpdateWebhook', { name: 'stolen' }],
    ['UpdateWebhook', { url: 'https://thief.example/' }],
    ['UpdateWebhook', { state: 'paused' }],
    ['DeleteWebhook', {}],
    ['RotateWebhookSecret', {}],
    ['TestWebhook', {}],
    ['ListDeliveries', {}],
    ['ReplayWebhook', { from }],
  ];
  const before = (await call(asAlice, 'ListWebhooks', {})).webhooks;
  for (const [operation, rest] of requests) {
    const seen = async (id: string) => {
      const answer = await asBob.call(
        'POST',
        `/api.${operation}`,
        { ...rest, webhook_id: id },
        { 'x-request-id': 'the-same' },
      );
      return { status: answer.status, text: answer.text };
    };
    const foreign = await seen(webhook_id);
    expect({ operation, ...foreign }).toMatchObject({ operation, status: 404 });
    expect(foreign).toEqual(await seen(unknown));
  }
  expect((await call(asAlice, 'ListWebhooks', {})).webhooks).toEqual(before);
  const { rule_id } = await asAlice.createRule({ x: 'comet' });
  const onForeignRule = { name: 'b', url: 'https://hooks.example/', rule_ids: [rule_id] };
  expect(await asBob.call('POST', '/api.CreateWebhook', onForeignRule)).toMatchObject({ status: 404 });
});
