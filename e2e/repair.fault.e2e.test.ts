import { setTimeout as sleep } from 'node:timers/promises';
import { type AnswerOf, type Match, operations } from '@earshot/contract';
import { eventually, startTcpProxy } from '@earshot/testkit';
import { expect, test } from 'vitest';
import type { Api } from './src/api.ts';
import { startWorld, type World } from './src/world.ts';

const soon = { timeoutMs: 60_000, intervalMs: 250 };
/** The upstream's rate limits reset ten times faster, here and in the sandbox. */
const pace = 10;
const searching = { EARSHOT_TEST: `upstreamPace=${pace}` };
const notSearching = { ...searching, EARSHOT_X_SEARCH_POSTS_PER_DAY: '0' };

async function intervalsOf(api: Api, ruleId: string): Promise<AnswerOf<'GetCoverage'>['intervals']> {
  const answer = await api.call('POST', '/api.GetCoverage', { rule_id: ruleId });
  return operations.GetCoverage.answer.parse(answer.json).intervals;
}

async function inject(world: World, posts: object[]): Promise<string[]> {
  const answer = await fetch(`${world.sandbox.url}/sandbox/x/posts`, {
    method: 'POST',
    body: JSON.stringify({ posts }),
  });
  const { posts: made } = (await answer.json()) as { posts: Array<{ id: string }> };
  return made.map(({ id }) => id);
}

/** Sends posts and pages. The middle ones fall into a cut of both upstreams. No search runs. */
async function cutUnderFeed() {
  await using stack = new AsyncDisposableStack();
  const world = stack.use(await startWorld({ sandbox: { speed: pace, rateLimits: false } }));
  const port = Number(new URL(world.sandbox.url).port);
  const proxy = stack.use(await startTcpProxy({ target: { port } }));
  const through = `http://${proxy.address}`;
  const account = await world.newAccount();
  const upstreams = { EARSHOT_X_BASE_URL: through, EARSHOT_FIREHOSE_BASE_URL: through };
  const server = await world.startServer({ ...upstreams, ...notSearching });
  const api = server.api(account);
  await api.createRule({ x: 'another', firehose: 'another' });
  const { rule_id: ruleId } = await api.createRule({ x: 'pulse', firehose: 'pulse' });
  const { rule_id: sampled } = await api.createRule({ x: 'pulse sample:100' });

  const feed = async (name: string, count: number) => {
    const ids: string[] = [];
    for (let n = 0; n < count; n += 1) {
      ids.push(...(await inject(world, [{ text: `pulse ${name} ${n}` }])));
      await world.sandbox.pages([
        { url: `https://news.example/${name}/${n}`, title: 'News', text: `pulse ${name} ${n}` },
      ]);
      await sleep(100);
    }
    return ids;
  };
  const before = await feed('before', 10);
  // Wait for items in transit: X may lose what it has written to a socket that breaks.
  await eventually(async () => expect(await listed(api, ruleId, 'x')).toHaveLength(10), soon);
  proxy.refuse(true);
  proxy.cut();
  const missed = await feed('missed', 20);
  const [retweet = ''] = await inject(world, [
    { text: 'RT @someone: pulse', referenced_tweets: [{ type: 'retweeted', id: '1' }] },
  ]);
  proxy.refuse(false);
  expect(proxy.fired.cut).toBeGreaterThan(0);
  await eventually(async () => {
    const last = (await intervalsOf(api, ruleId)).filter(({ platform }) => platform === 'x').at(-1);
    expect(last?.state).toBe('live');
  }, soon);
  const after = await feed('after', 5);
  const running = stack.move();
  const restart = async () => {
    await server.stop();
    return (await world.startServer({ ...upstreams, ...searching })).api(account);
  };
  return {
    api,
    restart,
    ruleId,
    sampled,
    before,
    missed,
    retweet,
    after,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function listed(api: Api, ruleId: string, platform: string): Promise<Match[]> {
  return await api.allMatches({ rule_id: ruleId, platform });
}

const gapsOf = async (api: Api, ruleId: string, platform: string) =>
  (await intervalsOf(api, ruleId)).filter(
    (one) => one.platform === platform && (one.state === 'gap' || one.state === 'repaired'),
  );

test('posts missed in a cut are found by search, once, and the ledger shows what is not; with a control', {
  timeout: 180_000,
}, async () => {
  await using cut = await cutUnderFeed();
  const { ruleId, sampled, before, missed, retweet, after } = cut;
  const ids = async (from: Api) => (await listed(from, ruleId, 'x')).map((match) => match.platform_post_id);

  // Control: the replay of Firehose has finished, and on X nothing was repaired.
  await eventually(async () => {
    const gaps = await gapsOf(cut.api, ruleId, 'firehose');
    expect(gaps).toMatchObject([{ state: 'repaired', repair: { via: 'replay' } }]);
  }, soon);
  expect(await listed(cut.api, ruleId, 'firehose')).toHaveLength(35);
  expect((await ids(cut.api)).toSorted()).toEqual([...before, ...after].toSorted());
  expect(await gapsOf(cut.api, ruleId, 'x')).toMatchObject([{ state: 'gap', repair: null }]);

  const api = await cut.restart();
  await eventually(async () => expect(await ids(api)).toHaveLength(35), soon);
  expect((await ids(api)).toSorted()).toEqual([...before, ...missed, ...after].toSorted());
  expect(await ids(api)).not.toContain(retweet);
  const found = (await listed(api, ruleId, 'x')).filter(({ via }) => via === 'search');
  expect(found.map((match) => match.platform_post_id).toSorted()).toEqual(missed.toSorted());

  // The restart itself was another gap, without any items.
  await eventually(async () => {
    const states = (await gapsOf(api, ruleId, 'x')).map(({ state }) => state);
    expect(states).toEqual(['repaired', 'repaired']);
  }, soon);
  const [gap, restart] = await gapsOf(api, ruleId, 'x');
  expect(restart?.repair?.matches).toBe(0);
  // The gap begins when the server noticed the cut: the first post may be older.
  expect(gap?.repair?.matches).toBeGreaterThan(10);
  expect(gap?.repair?.matches).toBeLessThanOrEqual(20);
  expect(gap?.repair).toMatchObject({ via: 'search', state: 'repaired' });
  expect(gap?.repair?.fidelity).toContain('retweets_missing');
  // Search cannot sample: the rule with a sample keeps its gap.
  expect((await gapsOf(api, sampled, 'x'))[0]).toMatchObject({
    state: 'gap',
    repair: { state: 'impossible', reason: 'no_search_for_sample' },
  });
});
