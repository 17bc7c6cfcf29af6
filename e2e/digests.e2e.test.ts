import { randomBytes } from 'node:crypto';
import { type OperationId, operations } from '@earshot/contract';
import { digestCheckpoints } from '@earshot/server/checkpoints';
import { eventually } from '@earshot/testkit';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import type { Api } from './src/api.ts';
import { type Message, startReceiver } from './src/webhook-receiver.ts';
import { startWorld } from './src/world.ts';

const env = {
  EARSHOT_SECRETS_KEY: randomBytes(32).toString('base64'),
  EARSHOT_ALLOW_INSECURE_WEBHOOKS: 'true',
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
  /** As if the window were over, and the leases of the dead. */
  const hurry = () =>
    world.database.query(
      `with issues as (update digest_issues set next_attempt_at = now(), lease_until = '-infinity')
       update digests set next_at = now() where next_at > now() + interval '1 second'`,
    );

  const stored = async () =>
    (await world.database.query('select count(*)::int as count from matches')).rows[0].count;

  await steady.stop();
  for (const label of digestCheckpoints) {
    const doomed = await world.startServer({ ...env, EARSHOT_CRASH_AT: label });
    await post();
    await eventually(async () => expect(await stored()).toBe(posted), within);
    await hurry();
    // The fault fired: the process killed itself.
    await doomed.exited;
  }
  // Two nodes at once, while matches keep coming.
  const [one] = await Promise.all([world.startServer(env), world.startServer(env)]);
  const through = one.api(account);
  for (let round = 0; round < 5; round++) {
    await post();
    await hurry();
    await eventually(async () => expect(await stored()).toBe(posted), within);
  }
  await eventually(async () => {
    await hurry();
    expect(distinct(receiver.messages).flatMap(({ matches }) => matches)).toHaveLength(posted);
  }, within);
  const listed = (await through.allMatches()).map(({ id }) => id).toSorted();

  const issues = distinct(receiver.messages);
  expect(issues.flatMap(({ matches }) => matches.map(({ id }) => id)).toSorted()).toEqual(listed);
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
