import { randomBytes } from 'node:crypto';
import { type OperationId, operations } from '@earshot/contract';
import { digestCheckpoints } from '@earshot/server/checkpoints';
import { eventually } from '@earshot/testkit';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Api } from './src/api.ts';
import { readShellBlocks } from './src/page-blocks.ts';
import { type Message, startReceiver } from './src/webhook-receiver.ts';
import { startWorld, type World, xToken } from './src/world.ts';

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

interface Issue {
  readonly number: number;
  readonly total: number;
  readonly matches: ReadonlyArray<{ id: string }>;
}

/** Of each message id the first, as a receiver keeps them. */
function distinct(messages: readonly Message[]): Issue[] {
  const digests = messages.filter(({ body }) => JSON.parse(body).type === 'digest');
  const byId = new Map(
    digests.toReversed().map(({ headers, body }) => [headers['webhook-id'], JSON.parse(body)]),
  );
  return [...byId.values()].toSorted((a, b) => a.number - b.number);
}

test('two nodes, one of which is killed at every step of an issue: each match is in exactly one issue', async () => {
  await using world = await startWorld();
  await using receiver = await startReceiver();
  const account = await world.newAccount();
  const steady = await world.startServer(env);
  const api = steady.api(account);
  await api.createRule({ x: 'tremor' });
  const { webhook_id, secret } = await call(api, 'CreateWebhook', {
    name: 'all',
    url: receiver.url,
    events: ['notices'],
  });
  const digest = await call(api, 'CreateDigest', {
    name: 'windows',
    schedule: { window_seconds: 30 },
    to: { webhook_id },
    max_matches: 100,
  });
  let posted = 0;
  const post = () => world.sandbox.posts([`tremor number ${posted++}`, `tremor number ${posted++}`]);
  /** As if the window were over. */
  const hurry = () =>
    world.database.query(
      `with issues as (update digest_issues set next_attempt_at = now())
       update digests set next_at = now() where next_at > now() + interval '1 second'`,
    );
  /** Nothing is due until somebody hurries; whoever died with an issue in its hands has it no more. */
  const rest = () =>
    world.database.query(
      `with issues as (
         update digest_issues set lease_until = '-infinity', next_attempt_at = now() + interval '1 hour'
       ) update digests set next_at = now() + interval '1 hour'`,
    );
  const isHeard = () =>
    eventually(async () => expect((await world.sandbox.xState(xToken)).connections.open).toBe(1), within);

  await steady.stop();
  for (const label of digestCheckpoints) {
    await rest();
    const doomed = await world.startServer({ ...env, EARSHOT_TEST: `${env.EARSHOT_TEST},crashAt=${label}` });
    let isDead = false;
    void doomed.exited.then(() => {
      isDead = true;
    });
    await isHeard();
    await post();
    await eventually(async () => {
      await hurry();
      // The fault fired: the process killed itself.
      expect(isDead).toBe(true);
    }, within);
  }
  await rest();
  // Two nodes at once, while matches keep coming.
  const [one] = await Promise.all([world.startServer(env), world.startServer(env)]);
  const through = one.api(account);
  const listedIds = async () => (await through.allMatches()).map(({ id }) => id).toSorted();
  const sentIds = () =>
    distinct(receiver.messages)
      .flatMap(({ matches }) => matches.map(({ id }) => id))
      .toSorted();
  await isHeard();
  const before = (await listedIds()).length;
  for (let round = 1; round <= 5; round++) {
    await post();
    await hurry();
    await eventually(
      async () => expect((await listedIds()).length).toBeGreaterThanOrEqual(before + 2 * round),
      within,
    );
  }
  await eventually(async () => {
    await hurry();
    expect(sentIds()).toEqual(await listedIds());
  }, within);

  const issues = distinct(receiver.messages);
  expect(issues.every(({ total, matches }) => total === matches.length)).toBe(true);
  expect(issues.map(({ number }) => number)).toEqual(issues.map((_, index) => index + 1));
  for (const { body, headers } of receiver.messages) {
    const at = new Date(Number(headers['webhook-timestamp']) * 1_000);
    expect(headers['webhook-signature']).toBe(
      new Webhook(secret ?? '').sign(headers['webhook-id'] ?? '', at, body),
    );
  }
  const { digests } = await call(through, 'ListDigests', {});
  expect(digests).toMatchObject([{ id: digest.id, problem: null, last_sent_at: expect.any(String) }]);
});

describe('the operations', () => {
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
    ({ webhook_id } = await call(alice, 'CreateWebhook', { name: 'hook', url: 'http://127.0.0.1:9/' }));
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const schedule = { window_seconds: 60 };
  const answerOf = async (api: Api, id: OperationId, request: object) => {
    const { status, json } = await api.call('POST', `/api.${id}`, request);
    return { status, code: Object(json).code, text: JSON.stringify(json) };
  };

  test('create, list, change and delete, each of which is in the audit', async () => {
    const created = await call(alice, 'CreateDigest', {
      name: 'morning',
      schedule: { cron: '0 9 * * *', time_zone: 'America/New_York' },
      to: { webhook_id },
    });
    expect(created).toMatchObject({
      min_matches: 1,
      empty: 'skip',
      max_matches: 50,
      last_number: 0,
      problem: null,
    });
    const local = new Date(created.next_at).toLocaleTimeString('en-GB', { timeZone: 'America/New_York' });
    expect(local).toBe('09:00:00');
    const digest_id = created.id;
    const changed = await call(alice, 'UpdateDigest', { digest_id, name: 'often', schedule, empty: 'send' });
    expect(changed).toMatchObject({ name: 'often', schedule, empty: 'send', to: { webhook_id } });
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

  test('the request of the page makes a digest by e-mail, where the operator allows the address', async () => {
    const [block = ''] = await readShellBlocks('docs/digests.md');
    const request = JSON.parse(/-d '(.*)'/.exec(block)?.[1] ?? '');
    const { id, to } = await call(alice, 'CreateDigest', request);
    expect(to).toEqual({ email: ['team@example.com'] });
    const elsewhere = { ...request, name: 'elsewhere', to: { email: ['team@example.org'] } };
    expect(await answerOf(alice, 'CreateDigest', elsewhere)).toMatchObject({
      status: 400,
      code: 'invalid_argument',
    });
    await call(alice, 'DeleteDigest', { digest_id: id });
  });

  test('another account’s digest or webhook is like none, a name is taken once, and there is a limit', async () => {
    const { id } = await call(alice, 'CreateDigest', { name: 'mine', schedule, to: { webhook_id } });
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
    expect(await answerOf(bob, 'CreateDigest', { name: 'a', schedule, to: { webhook_id } })).toMatchObject({
      code: 'not_found',
    });
    expect(
      await answerOf(alice, 'CreateDigest', { name: 'mine', schedule, to: { webhook_id } }),
    ).toMatchObject({ code: 'already_exists' });
    await call(alice, 'CreateDigest', { name: 'second', schedule, to: { webhook_id } });
    expect(
      await answerOf(alice, 'CreateDigest', { name: 'third', schedule, to: { webhook_id } }),
    ).toMatchObject({ code: 'resource_exhausted' });
    expect((await call(bob, 'ListDigests', {})).digests).toEqual([]);
  });
});
