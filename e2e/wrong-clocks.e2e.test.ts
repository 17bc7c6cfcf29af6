import { randomBytes, randomUUID } from 'node:crypto';
import { type AnswerOf, type OperationId, operations } from '@earshot/contract';
import { eventually } from '@earshot/testkit';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import type { Api } from './src/api.ts';
import { type Message, startReceiver } from './src/webhook-receiver.ts';
import { startWorld, type World, xToken } from './src/world.ts';

const within = { timeoutMs: 20_000 };
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const env = {
  EARSHOT_SECRETS_KEY: randomBytes(32).toString('base64'),
  EARSHOT_TEST: 'allowInsecureWebhooks=true',
};
const withClock = (offsetMs: number) => ({
  ...env,
  NODE_OPTIONS: `--import=${new URL('src/shifted-clock.ts', import.meta.url).href}`,
  CLOCK_OFFSET_MS: String(offsetMs),
});

async function call<Id extends OperationId>(api: Api, id: Id, request: object, headers = {}) {
  const answer = await api.call('POST', `/api.${id}`, request, headers);
  expect(answer).toMatchObject({ status: 200 });
  return operations[id].answer.parse(answer.json) as AnswerOf<Id>;
}

/** To within a minute: the clocks are wrong by far more. */
const minutesFromNow = (time: string | null | undefined) =>
  Math.round((Date.parse(time ?? '') - Date.now()) / minuteMs) + 0;

const bodyOf = ({ body }: Message) => JSON.parse(body);

/** What the first node creates, and all nodes must serve. */
async function prepare(api: Api, url: string) {
  const creation = { name: 'comets', intent: 'comets', platforms: ['x'], overrides: { x: 'comet' } };
  const headers = { 'idempotency-key': randomUUID() };
  const create = async (from: Api) => (await call(from, 'CreateRule', creation, headers)).rule_id;
  const ruleId = await create(api);
  const { webhook_id, secret } = await call(api, 'CreateWebhook', { name: 'all', url, rule_ids: [ruleId] });
  const schedule = { window_seconds: 3_600 };
  const recipients = { webhook_id };
  const digest = await call(api, 'CreateDigest', {
    name: 'hourly',
    schedule,
    recipients,
    rule_ids: [ruleId],
  });
  expect(minutesFromNow(digest.next_at)).toBe(60);
  return {
    create,
    ruleId,
    verify: ({ body, headers: sent }: Message) => new Webhook(secret ?? '').verify(body, sent),
  };
}

/** Everything that depends on stored times works on this node, whichever nodes ran before. */
async function expectAllWorks(
  world: World,
  api: Api,
  {
    nth,
    messages,
    prepared,
  }: { nth: number; messages: readonly Message[]; prepared: Awaited<ReturnType<typeof prepare>> },
): Promise<void> {
  const { create, ruleId, verify } = prepared;
  expect(await create(api)).toBe(ruleId);
  const trial = { minutes: 30, max_matches: 10 };
  const tried = await call(api, 'CreateRule', {
    name: `trial ${nth}`,
    intent: 'meteors',
    platforms: ['x'],
    overrides: { x: 'meteor' },
    trial,
  });
  expect(minutesFromNow((await api.getRule(tried.rule_id)).expires_at)).toBe(30);

  await eventually(async () => expect((await world.sandbox.xState(xToken)).connections.open).toBe(1), within);
  await world.sandbox.posts([`comet number ${nth}`]);
  await eventually(async () => expect(await api.allMatches({ rule_id: ruleId })).toHaveLength(nth), within);
  const received = (type: string) => messages.filter((message) => bodyOf(message).type === type);
  await eventually(() => expect(received('matches')).toHaveLength(nth), within);
  received('matches').forEach(verify);

  await world.database.query('update digests set next_at = now()');
  await eventually(() => expect(received('digest')).toHaveLength(nth), within);
  received('digest').forEach(verify);
  const issue = bodyOf(received('digest')[nth - 1] ?? { body: '{}', headers: {} });
  expect({ ...issue, to: minutesFromNow(issue.to) }).toMatchObject({ number: nth, total: 1, to: 0 });
  const { digests } = await call(api, 'ListDigests', {});
  expect(minutesFromNow(digests[0]?.next_at)).toBeLessThanOrEqual(60);
  await eventually(async () => {
    const { complete_through } = await call(api, 'GetCoverage', { rule_id: ruleId });
    expect(minutesFromNow(complete_through)).toBe(0);
  }, within);
}

test('a node whose clock is an hour ahead or behind works, and leaves nothing behind that stops the next node', async () => {
  await using world = await startWorld();
  await using receiver = await startReceiver();
  const account = await world.newAccount();
  let prepared: Awaited<ReturnType<typeof prepare>> | null = null;
  for (const [index, offsetMs] of [hourMs, -hourMs, 0].entries()) {
    const server = await world.startServer(withClock(offsetMs));
    const api = server.api(account);
    const lines = (await world.serverLog()).trim().split('\n');
    expect(minutesFromNow(JSON.parse(lines.at(-1) ?? '').time)).toBe(offsetMs / minuteMs);
    prepared ??= await prepare(api, receiver.url);
    await expectAllWorks(world, api, { nth: index + 1, messages: receiver.messages, prepared });
    await server.kill();
  }
});
