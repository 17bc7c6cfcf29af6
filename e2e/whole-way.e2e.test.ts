import { eventually } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, type ServerUnderTest, startWorld, tapToken, type World, xToken } from './src/world.ts';

let world: World;
let server: ServerUnderTest;
let alice: Account;

beforeAll(async () => {
  world = await startWorld();
  server = await world.startServer();
  alice = await world.newAccount('alice');
});
afterAll(() => world?.[Symbol.asyncDispose]());

const xValues = async () => (await world.sandbox.xState(xToken)).rules.map((rule) => rule.value);
const firehoseValues = async () =>
  (await world.sandbox.firehoseState(tapToken)).rules.map((rule) => rule.value);

describe('the whole system', () => {
  test('a rule on both platforms is registered, its matches are listed, and its deletion removes everything', async () => {
    const api = server.api(alice);
    const created = await api.createRule({ x: 'glacier lang:en', firehose: 'title:glacier' });
    expect(created.platforms.x).toMatchObject({ translated_value: 'glacier lang:en', status: 'active' });
    expect(created.platforms.firehose).toMatchObject({
      translated_value: 'title:"glacier"',
      status: 'active',
    });
    expect(await xValues()).toEqual(['glacier lang:en']);
    expect(await firehoseValues()).toEqual(['title:"glacier"']);

    const [post] = await world.sandbox.posts(['A glacier calves', 'nothing to see']);
    await world.sandbox.pages([{ url: 'https://news.example/a/1', title: 'Glacier retreats', text: 'ice' }]);
    const matches = await eventually(
      async () => {
        const found = await api.allMatches({ rule_id: created.rule_id });
        expect(found).toHaveLength(2);
        return found;
      },
      { timeoutMs: 10_000 },
    );
    expect(matches.find(({ platform }) => platform === 'x')).toMatchObject({
      platform_post_id: post?.id,
      payload: { text: 'A glacier calves', author: { handle: 'someone' } },
    });
    expect(matches.find(({ platform }) => platform === 'firehose')).toMatchObject({
      platform_post_id: 'https://news.example/a/1',
      payload: { title: 'Glacier retreats' },
    });

    await api.deleteRule(created.rule_id);
    expect(await api.allMatches()).toEqual([]);
    await eventually(
      async () => {
        expect(await xValues()).toEqual([]);
        expect(await firehoseValues()).toEqual([]);
      },
      { timeoutMs: 10_000 },
    );
    expect((await api.listRules()).rules).toEqual([]);
  });

  test("if the second platform refuses, the creation fails with the platform's message and leaves nothing behind", async () => {
    await world.sandbox.arm({
      kind: 'rule_refused',
      platform: 'firehose',
      count: 1,
      message: 'The tap is full',
      contains: 'avalanche',
    });
    const api = server.api(alice);
    const answer = await api.call('POST', '/api.CreateRule', {
      name: 'half',
      intent: 'fails',
      platforms: ['x', 'firehose'],
      overrides: { x: 'avalanche', firehose: 'title:avalanche' },
    });
    expect(await world.sandbox.fired()).toEqual([1]);
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({
      code: 'invalid_argument',
      details: {
        violations: [{ field: 'overrides.firehose', code: 'upstream_rejected', message: 'The tap is full' }],
      },
    });
    expect((await api.listRules()).rules).toEqual([]);
    await eventually(async () => expect([await xValues(), await firehoseValues()]).toEqual([[], []]), {
      timeoutMs: 30_000,
    });
    await world.sandbox.clearFaults();
  });
});
