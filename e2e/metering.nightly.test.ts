import { setTimeout as sleep } from 'node:timers/promises';
import { type AnswerOf, operations } from '@earshot/contract';
import { eventually, lengthOf, seededRandom } from '@earshot/testkit';
import { expect, test } from 'vitest';
import type { Api } from './src/api.ts';
import { startWorld, tapToken, type World, xToken } from './src/world.ts';

const { kills, eventsWanted } = lengthOf({
  always: { kills: 3, eventsWanted: 1_200 },
  nightly: { kills: 20, eventsWanted: 100_000 },
});
const perTick = 10;
/** Limits of the upstream pass ten times faster, here and in the sandbox. */
const pace = 10;
const env = {
  EARSHOT_X_EXPANSIONS: 'full',
  EARSHOT_X_SEARCH_POSTS_PER_DAY: '3000000',
  EARSHOT_TEST: `leaseTtlMs=2000,upstreamPace=${pace}`,
};

interface Bill {
  readonly xMin: number;
  readonly xMax: number;
  readonly firehose: number;
}

/** What the upstreams say, in millionths of a dollar. */
async function billOfSandbox({ sandbox }: World): Promise<Bill> {
  const read = async <Total>(path: string) => {
    const answer = await fetch(new URL(path, sandbox.url));
    return ((await answer.json()) as { total: { micro_usd: Total } }).total.micro_usd;
  };
  const x = await read<{ min: number; max: number }>(`/sandbox/x/bill?token=${xToken}`);
  const firehose = await read<number>(`/sandbox/firehose/bill?token=${tapToken}`);
  return { xMin: x.min, xMax: x.max, firehose };
}

/** What the server has counted, by source or as the sum of what accounts bear. */
async function billOfServer({ admin }: World, by: 'source' | 'account'): Promise<Bill> {
  const { lines } = await admin.listBill({ by, days: 2 });
  const sum = (platform: string, reading: 'min' | 'max') =>
    Math.round(
      lines
        .filter((line) => line.platform === platform)
        .reduce((total, { usd }) => total + usd[reading] * 1_000_000, 0),
    );
  return { xMin: sum('x', 'min'), xMax: sum('x', 'max'), firehose: sum('firehose', 'max') };
}

async function post(world: World, path: string, body: object): Promise<void> {
  const answer = await fetch(new URL(path, world.sandbox.url), {
    method: 'POST',
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(200);
  await answer.arrayBuffer();
}

/** Ids of today: the upper bits of a post's id are its time. */
const firstId = BigInt(Date.now() - 1_288_834_974_657) << 22n;
const idOf = (number: number) => String(firstId + BigInt(number));

/** Posts with few authors that mention others and refer to posts, some of which are delivered themselves; some come twice. */
function postOf(number: number, random: () => number): object {
  const userOf = () => `person${Math.floor(random() * 40)}`;
  const refersTo = random() < 0.4 ? idOf(Math.max(0, number - 5 + Math.floor(random() * 15))) : null;
  const mentioned = userOf();
  return {
    id: idOf(number),
    text: `${random() < 0.9 ? 'pulse' : 'other'} ${random() < 0.3 ? 'beat' : ''} ${number} @${mentioned}`,
    author: { username: userOf() },
    ...(refersTo !== null && { referenced_tweets: [{ type: 'replied_to', id: refersTo }] }),
    includes: {
      users: [{ id: `9${Math.floor(random() * 30)}`, username: mentioned }],
      tweets: refersTo === null ? [] : [{ id: refersTo, text: 'what it refers to' }],
    },
  };
}

async function send(world: World, random: () => number, state: { stop: boolean }): Promise<void> {
  const sent: object[] = [];
  for (let number = 0; !state.stop || number * 2 < eventsWanted; number += perTick) {
    const posts = Array.from({ length: perTick }, (_, index) => postOf(number + index, random));
    const again = sent.slice(-50).filter(() => random() < 0.05);
    sent.push(...posts);
    await post(world, '/sandbox/x/posts', { posts: [...posts, ...again] });
    await world.sandbox.pages(
      Array.from({ length: perTick }, (_, index) => ({
        url: `https://news.example/${number + index}`,
        title: 'News',
        text: `pulse ${random() < 0.3 ? 'beat' : ''} ${number + index}`,
      })),
    );
    await sleep(100);
  }
}

async function gapsOf(api: Api, ruleId: string): Promise<AnswerOf<'GetCoverage'>['intervals']> {
  const { json } = await api.call('POST', '/api.GetCoverage', { rule_id: ruleId });
  const { intervals } = operations.GetCoverage.answer.parse(json);
  return intervals.filter(({ state }) => state === 'gap' || state === 'repaired');
}

async function usageOf(api: Api): Promise<AnswerOf<'GetUsage'>['total']> {
  const { json } = await api.call('POST', '/api.GetUsage', {});
  return operations.GetUsage.answer.parse(json).total;
}

test(`what is counted here is what the upstreams bill, to the cent, after ${kills} kills at random moments`, {
  timeout: lengthOf({ always: 180_000, nightly: 3_600_000 }),
}, async () => {
  const seed = Date.now() % 1_000_000;
  console.info(`seed ${seed}`);
  const random = seededRandom(seed);
  await using world = await startWorld({ sandbox: { speed: pace, rateLimits: false } });
  const [alice, bob] = [await world.newAccount('alice'), await world.newAccount('bob')];
  let server = await world.startServer(env);
  const { rule_id: ruleId } = await server.api(alice).createRule({ x: 'pulse', firehose: 'pulse' });
  await server.api(alice).createRule({ x: 'beat', firehose: 'beat' });
  // Bob shares Alice's slots, and has the same matches.
  await server.api(bob).createRule({ x: 'pulse', firehose: 'pulse' });
  await server.api(bob).createRule({ x: 'beat', firehose: 'beat' });

  const state = { stop: false };
  const sending = send(world, random, state);
  for (let kill = 0; kill < kills; kill++) {
    await sleep(1_000 + random() * 3_000);
    await server.kill();
    if (random() < 0.5) await sleep(500);
    server = await world.startServer(env);
    // One that is killed before it listens makes no gap of its own.
    await eventually(async () => expect((await world.sandbox.xState(xToken)).connections.open).toBe(1), {
      timeoutMs: 60_000,
    });
  }
  await sleep(3_000);
  state.stop = true;
  await sending;

  const api = server.api(alice);
  const settled = { timeoutMs: lengthOf({ always: 60_000, nightly: 600_000 }), intervalMs: 500 };
  await eventually(async () => {
    const gaps = await gapsOf(api, ruleId);
    expect(gaps.filter(({ platform }) => platform === 'x').length).toBeGreaterThanOrEqual(kills);
    expect(gaps.filter((gap) => gap.state !== 'repaired')).toEqual([]);
  }, settled);
  await eventually(
    async () => expect(await billOfServer(world, 'source')).toEqual(await billOfSandbox(world)),
    settled,
  );
  const bill = await billOfServer(world, 'source');
  // Both readings of X were put to the test, and searches were billed.
  expect(bill.xMin).toBeGreaterThan(0);
  expect(bill.xMax).toBeGreaterThan(bill.xMin);
  const searched = await world.database.query<{ posts: number }>(
    'select sum(posts)::integer as posts from repair_spending',
  );
  expect(searched.rows[0]?.posts).toBeGreaterThan(0);
  expect(await billOfServer(world, 'account')).toEqual(bill);
  const usage = await usageOf(api);
  expect(usage.resources.posts).toBeGreaterThan(0);
  expect(usage.resources.pages).toBeGreaterThan(0);
  expect(usage.matches).toBeGreaterThan(eventsWanted / 2);
  expect(await usageOf(server.api(bob))).toEqual(usage);
  console.info(JSON.stringify({ bill, usage, searched: searched.rows[0]?.posts }));
});
