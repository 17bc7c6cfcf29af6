import { operations } from '@earshot/contract';
import { eventually } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Api } from './src/api.ts';
import { shareWorld } from './src/shared-world.ts';
import { type ServerUnderTest, tapToken, type World, xToken } from './src/world.ts';

let world: World;
let server: ServerUnderTest;
let api: Api;

beforeAll(async () => {
  world = await shareWorld();
  server = await world.startServer();
  api = server.api(await world.newAccount());
});
afterAll(() => world?.[Symbol.asyncDispose]());

test('platform options are registered with the query, and rules with other options do not share it', async () => {
  const firehose = 'title:"moraine walk"';
  const create = async (options?: object) => {
    const answer = await api.call('POST', '/api.CreateRule', {
      name: 'a rule',
      intent: 'to try the options',
      platforms: ['firehose'],
      overrides: { firehose },
      ...(options && { options: { firehose: options } }),
    });
    expect(answer).toMatchObject({ status: 200 });
    return operations.CreateRule.answer.parse(answer.json).rule_id;
  };
  const plain = await create();
  const same = await create({ quality: true, nsfw: false });
  const other = await create({ quality: false });
  const { rules } = await world.sandbox.firehoseState(tapToken);
  expect(rules.filter(({ value }) => value === firehose)).toMatchObject([
    { quality: true, nsfw: false },
    { quality: false, nsfw: false },
  ]);
  expect(await api.getRule(plain)).toMatchObject({ platforms: { firehose: { value: firehose } } });
  expect((await api.getRule(same)).platforms.firehose).not.toHaveProperty('options');
  expect((await api.getRule(other)).platforms.firehose?.options).toEqual({ quality: false });
  await Promise.all([plain, same, other].map((id) => api.deleteRule(id)));
});

test("an upstream match that Earshot's evaluator denies is stored and counted", async () => {
  const { rule_id } = await api.createRule({ x: 'aurora' });
  // The test gives our rule on X a broader query: X then reports matches that the evaluator denies.
  const state = await world.sandbox.xState(xToken);
  const ours = state.rules.find(({ value }) => value === 'aurora');
  const change = (body: object) =>
    fetch(new URL('/2/tweets/search/stream/rules', world.sandbox.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${xToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  await change({ delete: { ids: [ours?.id] } });
  await change({ add: [{ value: 'meteor', tag: ours?.tag }] });
  await world.sandbox.posts(['a meteor falls']);
  await eventually(async () => expect(await api.allMatches({ rule_id })).toHaveLength(1), {
    timeoutMs: 10_000,
  });
  const metrics = await (await fetch(server.metricsUrl)).text();
  expect(metrics).toMatch(/earshot_unexplained_total\{platform="x",operator="keyword"\} 1/);
});
