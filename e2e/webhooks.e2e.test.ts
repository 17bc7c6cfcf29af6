import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { type OperationId, operations } from '@earshot/contract';
import { deliveryCheckpoints } from '@earshot/server/checkpoints';
import { eventually } from '@earshot/testkit';
import { Client } from 'pg';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Api } from './src/api.ts';
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

test('a match goes the whole way from the platform to the endpoint, as it is listed', async () => {
  await using receiver = await startReceiver();
  const { rule_id } = await asAlice.createRule({ x: 'aurora' });
  const { webhook_id, secret } = await call(asAlice, 'CreateWebhook', {
    name: 'whole way',
    url: receiver.url,
    rule_id,
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
  const day = Date.parse(rotated.previous_valid_until) - Date.now();
  expect(Math.abs(day - 24 * 3_600_000)).toBeLessThan(60_000);
  expect(await call(asAlice, 'ReplayWebhook', { webhook_id, since: '2026-01-01T00:00:00Z' })).toEqual({
    webhook_id,
    from_match_id: listed.matches[0]?.id,
  });
  await eventually(() => expect(receiver.messages).toHaveLength(3), within);
  const again = receiver.messages[2];
  for (const valid of [secret, rotated.secret])
    expect(again && verify(valid, again)).toEqual({ type: 'matches', webhook_id, matches: listed.matches });

  await call(asAlice, 'UpdateWebhook', { webhook_id, state: 'paused', name: 'renamed' });
  expect((await call(asAlice, 'ListWebhooks', {})).webhooks).toMatchObject([
    { id: webhook_id, name: 'renamed', state: 'paused', rule_id },
  ]);
  await call(asAlice, 'DeleteWebhook', { webhook_id });
  expect((await call(asAlice, 'ListWebhooks', {})).webhooks).toEqual([]);
  const audit = (await call(asAlice, 'ListAudit', {})).entries.filter((one) => one.target_id === webhook_id);
  expect(audit.map(({ operation }) => operation).toReversed()).toEqual([
    'CreateWebhook',
    'RotateWebhookSecret',
    'ReplayWebhook',
    'UpdateWebhook',
    'DeleteWebhook',
  ]);
  expect(JSON.stringify(audit)).not.toContain('whsec_');
});

test('the secret is shown once, and a dump of the database and the log have nothing that could sign', async () => {
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

describe('what cannot be', () => {
  const refused = async (api: Api, request: object) => {
    const { status, json } = await api.call('POST', '/api.CreateWebhook', request);
    return { status, json };
  };

  test('a webhook of another account answers, byte for byte, like one that does not exist', async () => {
    const { webhook_id } = await call(asAlice, 'CreateWebhook', {
      name: 'mine',
      url: 'https://hooks.example/',
    });
    const unknown = `whk_${'0'.repeat(webhook_id.length - 'whk_'.length)}`;
    const since = '2026-01-01T00:00:00Z';
    const requests: ReadonlyArray<readonly [string, object]> = [
      ['UpdateWebhook', { name: 'stolen' }],
      ['UpdateWebhook', { url: 'https://thief.example/' }],
      ['UpdateWebhook', { state: 'paused' }],
      ['DeleteWebhook', {}],
      ['RotateWebhookSecret', {}],
      ['TestWebhook', {}],
      ['ListDeliveries', {}],
      ['ReplayWebhook', { since }],
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
    expect((await refused(asBob, { name: 'b', url: 'https://hooks.example/', rule_id })).status).toBe(404);
  });
});

test('a sender that is killed at any point loses nothing and repeats only the same message', async () => {
  await using other = await startWorld();
  await using receiver = await startReceiver();
  const account = await other.newAccount();
  const steady = await other.startServer({ ...env, EARSHOT_ROLES: 'api,ingest,match' });
  const api = steady.api(account);
  const { rule_id } = await api.createRule({ x: 'tremor' });
  const { secret } = await call(api, 'CreateWebhook', { name: 'a', url: receiver.url });
  const client = new Client({ connectionString: other.databaseUrl });
  await client.connect();
  try {
    let posted = 0;
    for (const label of deliveryCheckpoints) {
      await other.sandbox.posts([`tremor ${posted++}`, `tremor ${posted++}`]);
      await eventually(async () => expect(await api.allMatches({ rule_id })).toHaveLength(posted), within);
      // It finds something to send before it can say that it is up.
      const doomed = await other
        .startServer({
          ...env,
          EARSHOT_ROLES: 'deliver',
          EARSHOT_TEST: `${env.EARSHOT_TEST},crashAt=${label}`,
        })
        .catch(() => null);
      await doomed?.exited;
      // A minute passes: the claim of the dead runs out.
      await client.query(`update webhooks set lease_until = '-infinity'`);
    }
    const { rows } = await client.query('select message_id from webhook_batches');
    expect(rows).toHaveLength(0);
    const before = receiver.messages.length;
    await other.sandbox.posts([`tremor ${posted++}`]);
    await using _last = await other.startServer({ ...env, EARSHOT_ROLES: 'deliver' });
    await eventually(() => expect(receiver.messages.length).toBeGreaterThan(before), within);
    const matches = await api.allMatches({ rule_id });
    const received = () => receiver.messages.flatMap((message) => Object(verify(secret, message)).matches);
    await eventually(() => expect(new Set(received().map(({ id }) => id)).size).toBe(posted), within);
    const firsts = [...new Map(received().map((match) => [match.id, match])).values()];
    expect(firsts).toEqual(matches);
    const bodies = new Map(receiver.messages.map(({ headers, body }) => [headers['webhook-id'], body]));
    expect(new Set(bodies.values()).size).toBe(bodies.size);
    expect(new Set(receiver.messages.map(({ body }) => body)).size).toBe(bodies.size);
    // The one that died after sending sent its message again.
    expect(receiver.messages.length).toBeGreaterThan(bodies.size);
  } finally {
    await client.end();
  }
});
