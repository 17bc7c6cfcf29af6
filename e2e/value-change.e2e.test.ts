import { setTimeout as sleep } from 'node:timers/promises';
import type { Match } from '@earshot/contract';
import { eventually, testNightly } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Api } from './src/api.ts';
import { startWorld, type World, xToken } from './src/world.ts';

/** Sends posts that the old and the new query match while the query changes; the upstream applies a new rule late. */
const ruleDelayMs = 2_000;

let world: World;
beforeAll(async () => {
  world = await startWorld({ sandbox: { ruleDelayMs } });
});
afterAll(() => world?.[Symbol.asyncDispose]());

interface Steady {
  readonly sent: string[];
  stop(): Promise<void>;
}

function postSteadily(text: string): Steady {
  const sent: string[] = [];
  const end = new AbortController();
  const sending = (async () => {
    while (!end.signal.aborted) {
      const [post] = await world.sandbox.posts([`${text} number ${sent.length}`]);
      if (post) sent.push(post.id);
      await sleep(40);
    }
  })();
  return {
    sent,
    async stop() {
      end.abort();
      await sending;
    },
  };
}

const upstreamValues = async () => (await world.sandbox.xState(xToken)).rules.map(({ value }) => value);

async function awaitEffective(api: Api, word: string): Promise<void> {
  await eventually(
    async () => {
      await world.sandbox.posts([`${word} warming up`]);
      expect((await api.matches()).matches.length).toBeGreaterThan(0);
    },
    { timeoutMs: 20_000, intervalMs: 200 },
  );
}

/** Changes the query under a steady stream, and returns which of the posts became matches. */
async function changeValue(word: string, keepOldValueMs: number) {
  await using server = await world.startServer({ EARSHOT_TEST: `keepOldValueMs=${keepOldValueMs}` });
  const api = server.api(await world.newAccount(word));
  const { rule_id } = await api.createRule({ x: word });
  await awaitEffective(api, word);
  const stream = postSteadily(word);
  const changed = await api.updateRule(rule_id, { platforms: ['x'], overrides: { x: `${word} lang:en` } });
  expect(changed).toMatchObject({ id: rule_id, version: 2, state: 'active' });
  // Right after the answer both rules are upstream, unless the old one is not kept.
  if (keepOldValueMs > 0) expect(await upstreamValues()).toEqual([word, `${word} lang:en`]);
  await eventually(async () => expect(await upstreamValues()).toEqual([`${word} lang:en`]), {
    timeoutMs: 20_000,
  });
  await sleep(ruleDelayMs);
  await stream.stop();
  const last = stream.sent.at(-1);
  const matches = await eventually(
    async () => {
      const all = await api.allMatches({ rule_id });
      expect(all.map(({ platform_post_id }) => platform_post_id)).toContain(last);
      return all;
    },
    { timeoutMs: 20_000 },
  );
  await api.deleteRule(rule_id);
  await eventually(async () => expect(await upstreamValues()).toEqual([]), { timeoutMs: 20_000 });
  return { sent: stream.sent, matches };
}

const missedBy = ({ sent, matches }: { sent: string[]; matches: Match[] }) => {
  const matched = new Set(matches.map(({ platform_post_id }) => platform_post_id));
  return sent.filter((id) => !matched.has(id));
};

test('a query change misses no post, and each is stored once with the rule version that matched it', async () => {
  const changed = await changeValue('comet', ruleDelayMs + 500);
  expect(missedBy(changed)).toEqual([]);
  const ofStream = changed.matches.filter(({ platform_post_id }) => changed.sent.includes(platform_post_id));
  expect(ofStream).toHaveLength(changed.sent.length);
  expect(ofStream.at(0)?.rule_version).toBe(1);
  expect(ofStream.at(-1)?.rule_version).toBe(2);
});

testNightly('control: if the old query is given up at once, posts are missed', {}, async () => {
  expect(missedBy(await changeValue('asteroid', 0)).length).toBeGreaterThan(0);
});
