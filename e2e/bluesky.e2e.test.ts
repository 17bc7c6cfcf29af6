import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, lengthOf } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Api } from './src/api.ts';
import { type Account, type ServerUnderTest, startWorld, type World } from './src/world.ts';

let world: World;
let server: ServerUnderTest;
let account: Account;
let api: Api;

const start = () => world.startServer({ EARSHOT_BLUESKY_URL: world.sandboxUrl.replace('http', 'ws') });

beforeAll(async () => {
  world = await startWorld();
  server = await start();
  account = await world.newAccount();
  api = server.api(account);
});
afterAll(() => world?.[Symbol.asyncDispose]());

const publish = (texts: readonly string[]) => world.sandbox.blueskyPosts(texts);

const connected = () =>
  eventually(async () => expect(await world.sandbox.blueskyConnections()).toBe(1), within);

/** After several cuts the next attempt waits half a minute; after thirty in five minutes, for the next five. */
const within = { timeoutMs: lengthOf({ always: 60_000, nightly: 400_000 }) };

async function textsOf(rule_id: string, platform?: 'x' | 'bluesky'): Promise<Array<string | null>> {
  const matches = await api.allMatches({ rule_id });
  return matches
    .filter((match) => platform === undefined || match.platform === platform)
    .map(({ payload }) => payload.text);
}

test('a rule on X and Bluesky matches on both; a deleted post disappears, and a reader learns of it', async () => {
  const { rule_id } = await api.createRule({ x: 'rocket lang:en', bluesky: 'rocket lang:en' });
  const [uri] = await publish(['a rocket', 'a train']);
  await world.sandbox.posts(['a rocket on X', 'a train on X']);
  await eventually(
    async () => expect(new Set(await textsOf(rule_id))).toEqual(new Set(['a rocket', 'a rocket on X'])),
    within,
  );
  const { matches, next_cursor } = await api.matches({ rule_id, order: 'oldest' });
  const post = matches.find(({ platform }) => platform === 'bluesky');
  expect(post).toMatchObject({ platform_post_id: uri, via: 'stream', why: { verdict: 'match' } });
  await world.sandbox.deleteBlueskyPost(uri ?? '');
  const after = await api.matches({ rule_id, order: 'oldest', cursor: next_cursor ?? '', wait_seconds: 20 });
  expect(after).toMatchObject({ matches: [], removed: [{ match_id: post?.id, reason: 'deleted' }] });
  expect(await textsOf(rule_id, 'bluesky')).toEqual([]);
});

test('a new rule matches every post from its registration on, within a second, without a new connection', async () => {
  const { rule_id } = await api.createRule({ bluesky: 'brandnew' });
  await publish(['brandnew']);
  const publishedAt = performance.now();
  const { matches } = await api.matches({ rule_id, order: 'oldest', wait_seconds: 20 });
  expect(matches.map(({ payload }) => payload.text)).toEqual(['brandnew']);
  expect(performance.now() - publishedAt).toBeLessThan(lengthOf({ always: 10_000, nightly: 1_000 }));
});

/** Cuts the stream. Another fault may have ended it a moment before. */
const cut = () =>
  eventually(async () => {
    await connected();
    await world.sandbox.arm({ kind: 'stream_cut', platform: 'bluesky' });
    expect((await world.sandbox.fired()).at(-1)).toBe(1);
  }, within);

/** A million posts at full length. */
const { rounds, signalsPerStep, noisePerSignal } = lengthOf({
  always: { rounds: 1, signalsPerStep: 40, noisePerSignal: 1 },
  nightly: { rounds: 16, signalsPerStep: 440, noisePerSignal: 24 },
});

test('through kills and cuts no post is lost or doubled, and a deleted one does not return', {
  timeout: lengthOf({ always: 120_000, nightly: 3_600_000 }),
}, async () => {
  const { rule_id } = await api.createRule({ bluesky: 'signal' });
  const [unwanted = ''] = await publish(['signal to delete']);
  const unwantedId = await eventually(async () => {
    const [match] = await api.allMatches({ rule_id });
    expect(match).toBeDefined();
    return match?.id;
  }, within);
  const sent: string[] = [];
  const noise = Array.from({ length: noisePerSignal }, (_, n) => `noise ${n}`);
  const send = async () => {
    for (let left = signalsPerStep; left > 0; left -= 20) {
      const texts = Array.from({ length: 20 }, (_, n) => `signal ${sent.length + n}`);
      sent.push(...texts);
      await publish(texts.flatMap((text) => [text, ...noise]));
    }
  };
  const faults = ['duplicate_delivery', 'unknown_message', 'not_json', 'big_frame'];
  for (let round = 0; round < rounds; round++) {
    await cut();
    for (const kind of faults) {
      await send();
      await world.sandbox.arm({ kind, platform: 'bluesky' });
    }
    await send();
    if (round === 0) await world.sandbox.deleteBlueskyPost(unwanted);
    await server.kill();
    await send();
    server = await start();
    api = server.api(account);
    // The emulator keeps the last 200,000 posts.
    await eventually(async () => {
      const { json } = await api.call('POST', '/api.CountMatches', dayOf(rule_id));
      expect(Object(json).series[0]?.counts[0]).toBeGreaterThanOrEqual(sent.length);
    }, within);
  }
  const isListed = async () => (await api.call('POST', '/api.GetMatch', { match_id: unwantedId })).status;
  await eventually(async () => expect(await isListed()).toBe(404), within);
  const listed = await textsOf(rule_id);
  expect(listed).toHaveLength(sent.length);
  expect(new Set(listed)).toEqual(new Set(sent));
  const fired = await world.sandbox.fired();
  expect(fired.filter((count) => count === 1)).toHaveLength(rounds * (faults.length + 1));
  await eventually(async () => {
    const { coverage } = await api.matches({ rule_id, order: 'oldest' });
    expect(coverage?.gaps.length).toBeGreaterThan(0);
    expect(coverage?.gaps.filter(({ repaired }) => !repaired)).toEqual([]);
  }, within);
});

/** A request for the number of matches of today and tomorrow. */
function dayOf(rule_id: string): object {
  const day = 86_400_000;
  const from = new Date(Math.floor(Date.now() / day) * day);
  const to = new Date(from.getTime() + 2 * day);
  return { rule_id, from: from.toISOString(), to: to.toISOString(), step: (2 * day) / 1_000 };
}

test('what the instance no longer has is a gap that stays', async () => {
  const { rule_id } = await api.createRule({ bluesky: 'vanished OR kept' });
  await publish(['kept 1']);
  await eventually(async () => expect(await textsOf(rule_id)).toEqual(['kept 1']), within);
  await world.sandbox.setBlueskyLookback(1_000);
  await server.stop();
  await publish(['vanished']);
  await sleep(4_000);
  server = await start();
  api = server.api(account);
  await eventually(async () => {
    await publish(['kept 2']);
    expect((await textsOf(rule_id)).at(-1)).toBe('kept 2');
  }, within);
  expect(await textsOf(rule_id)).not.toContain('vanished');
  const { coverage } = await api.matches({ rule_id, order: 'oldest' });
  expect(coverage?.gaps).toContainEqual(expect.objectContaining({ platform: 'bluesky', repaired: false }));
});
