import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { operations } from '@earshot/contract';
import { eventually } from '@earshot/testkit';
import { Client } from 'pg';
import { expect, test } from 'vitest';
import type { Api } from './src/api.ts';
import { postedAtMs } from './src/ledger.ts';
import { startWorld, type World } from './src/world.ts';

const soon = { timeoutMs: 60_000, intervalMs: 250 };
/** The log hands out 4,000 events that are not acknowledged: those are stored, the others are lost with the log. */
const postsSent = 5_200;
const postsLostMin = 1_000;
/** After them, so all of these are lost; Firehose has them. */
const pages = Array.from({ length: 100 }, (_, n) => `https://news.example/${n}`);

/** Nobody stores a post until this is released: what the upstreams send waits in the log. */
async function holdMatching(world: World) {
  const client = new Client({ connectionString: world.databaseUrl });
  await client.connect();
  await client.query('begin');
  await client.query('lock table posts in share row exclusive mode');
  return { [Symbol.asyncDispose]: () => client.end() };
}

/** Messages in the event log; null when there is none. */
async function messagesInLog(world: World): Promise<number | null> {
  const answer = await fetch(`${world.nats.nodes[0]?.monitorUrl}/jsz?accounts=true&streams=true`);
  const { account_details = [] } = (await answer.json()) as {
    account_details?: Array<{ stream_detail?: Array<{ name: string; state: { messages: number } }> }>;
  };
  const streams = account_details.flatMap(({ stream_detail = [] }) => stream_detail);
  return streams.find(({ name }) => name === 'EVENTS')?.state.messages ?? null;
}

async function gapsOf(api: Api, ruleId: string): Promise<Array<{ from: number; to: number }>> {
  const answer = await api.call('POST', '/api.GetCoverage', { rule_id: ruleId, platform: 'x' });
  const { intervals } = operations.GetCoverage.answer.parse(answer.json);
  return intervals
    .filter(({ state }) => state === 'gap')
    .map(({ from, to }) => ({ from: Date.parse(from), to: to === null ? Infinity : Date.parse(to) }));
}

test('NATS lost its store: the log is there again without a restart, and what waited in it comes again or is a gap', async () => {
  await using world = await startWorld();
  await using server = await world.startServer({
    EARSHOT_X_SEARCH_POSTS_PER_DAY: '0',
    // Messages are counted below: with a budget each has one event.
    EARSHOT_BUDGET: 'usd=1000000/day',
  });
  const api = server.api(await world.newAccount());
  const { rule_id: ruleId } = await api.createRule({ x: 'pulse', firehose: 'pulse' });
  const matched = async () => (await api.allMatches()).map((match) => match.platform_post_id);
  await world.sandbox.posts(['a pulse before']);
  await eventually(async () => expect(await matched()).toHaveLength(1), soon);

  const sent: string[] = [];
  {
    await using _held = await holdMatching(world);
    while (sent.length < postsSent) {
      const posts = await world.sandbox.posts(Array.from({ length: 400 }, () => 'a pulse that waits'));
      expect(posts.filter(({ delivered }) => !delivered)).toEqual([]);
      sent.push(...posts.map(({ id }) => id));
      await sleep(100);
    }
    await world.sandbox.pages(pages.map((url) => ({ url, title: 'News', text: 'a pulse that waits' })));
    const waiting = postsSent + pages.length;
    await eventually(async () => expect(await messagesInLog(world)).toBeGreaterThanOrEqual(waiting), soon);
    const [node] = world.nats.nodes;
    await node?.kill('SIGKILL');
    await rm(node?.storeDir ?? '', { recursive: true });
    await node?.restart();
    expect(await messagesInLog(world)).toBeNull();
  }

  await eventually(async () => expect(await messagesInLog(world)).not.toBeNull(), soon);
  await eventually(async () => {
    const [last] = await world.sandbox.posts(['a pulse after']);
    await sleep(500);
    expect(await matched()).toContain(last?.id);
  }, soon);
  const stored = new Set(await matched());
  const lost = sent.filter((id) => !stored.has(id));
  expect(lost.length).toBeGreaterThanOrEqual(postsLostMin);
  await eventually(async () => {
    const gaps = await gapsOf(api, ruleId);
    const isTold = (atMs: number) => gaps.some(({ from, to }) => from <= atMs && atMs < to);
    expect(lost.filter((id) => !isTold(postedAtMs(id)))).toEqual([]);
  }, soon);
  await eventually(async () => expect(await matched()).toEqual(expect.arrayContaining(pages)), soon);
});
