import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, lengthOf, seededRandom, testNightly } from '@earshot/testkit';
import { describe, expect, test } from 'vitest';
import { startForgetfulProxy } from './src/forgetful-proxy.ts';
import { type Account, type ServerUnderTest, startWorld, type World, xToken } from './src/world.ts';

const { kills, eventsWanted } = lengthOf({
  always: { kills: 3, eventsWanted: 900 },
  nightly: { kills: 20, eventsWanted: 5_000 },
});
const perTick = 10;
/**
 * Leases of a killed process expire soon, so that the test spends more time listening. They are long enough that a busy
 * machine can renew them; 20 starts in a minute fit the budget.
 */
const quickTakeover = { EARSHOT_TEST: 'leaseTtlMs=2000,upstreamPace=10' };

/** What was sent, according to the sandbox. */
interface Sent {
  readonly posts: string[];
  readonly pages: string[];
  pagesWhileDown: number;
}

/** Sends posts and pages at a steady pace until it is stopped and has sent enough. */
async function send(world: World, sent: Sent, state: { stop: boolean; isDown: boolean }): Promise<void> {
  while (!state.stop || sent.posts.length + sent.pages.length < eventsWanted) {
    const tick = sent.pages.length;
    const isDown = state.isDown;
    const posts = await world.sandbox.posts(Array.from({ length: perTick }, (_, i) => `pulse ${tick + i}`));
    sent.posts.push(...posts.map(({ id }) => id));
    const urls = Array.from({ length: perTick }, (_, i) => `https://news.example/${tick + i}`);
    await world.sandbox.pages(urls.map((url) => ({ url, title: 'News', text: `pulse of ${url}` })));
    sent.pages.push(...urls);
    if (isDown && state.isDown) sent.pagesWhileDown += urls.length;
    await sleep(100);
  }
}

async function listedIds(server: ServerUnderTest, account: Account, platform: string): Promise<string[]> {
  const matches = await server.api(account).allMatches({ platform });
  return matches.map((match) => match.platform_post_id);
}

const without = (all: readonly string[], some: Iterable<string>) => {
  const leftOut = new Set(some);
  return all.filter((one) => !leftOut.has(one));
};

describe('SIGKILL of the whole server while events arrive', () => {
  test(`at ${kills} random moments: afterwards every match is listed exactly once`, async () => {
    const seed = Date.now() % 1_000_000;
    console.info(`seed ${seed}`);
    const random = seededRandom(seed);
    await using world = await startWorld({ sandbox: { rateLimits: false } });
    const account = await world.newAccount();
    let server = await world.startServer(quickTakeover);
    await server.api(account).createRule({ x: 'pulse', firehose: 'pulse' });

    const sent: Sent = { posts: [], pages: [], pagesWhileDown: 0 };
    const state = { stop: false, isDown: false };
    const sending = send(world, sent, state);
    for (let kill = 0; kill < kills; kill++) {
      await sleep(random() * 3_000);
      state.isDown = true;
      await server.kill();
      if (random() < 0.3) await sleep(300);
      server = await world.startServer(quickTakeover);
      state.isDown = false;
    }
    await sleep(3_000);
    state.stop = true;
    await sending;
    expect(sent.posts.length + sent.pages.length).toBeGreaterThanOrEqual(eventsWanted);
    // Control: the kills mattered, because pages arrived while no server listened.
    expect(sent.pagesWhileDown).toBeGreaterThan(0);

    await eventually(
      async () => expect(without(sent.pages, await listedIds(server, account, 'firehose'))).toEqual([]),
      { timeoutMs: 60_000 },
    );
    expect((await listedIds(server, account, 'firehose')).toSorted()).toEqual(sent.pages.toSorted());

    // X has no replay: only posts that it sent while no server listened may be missing.
    const { undelivered, unconfirmed } = await world.sandbox.xState(xToken);
    const delivered = without(sent.posts, [...undelivered, ...unconfirmed]);
    expect(delivered.length).toBeGreaterThan(0);
    await eventually(
      async () => expect(without(delivered, await listedIds(server, account, 'x'))).toEqual([]),
      { timeoutMs: 60_000 },
    );
    const listedPosts = await listedIds(server, account, 'x');
    expect(new Set(listedPosts).size).toBe(listedPosts.length);
    expect(without(listedPosts, sent.posts)).toEqual([]);
    console.info(
      `${sent.pages.length} pages, all listed once (${sent.pagesWhileDown} sent while down); ${sent.posts.length} posts, ` +
        `${listedPosts.length} listed once, ${delivered.length} surely delivered, ${undelivered.length} undelivered, ${unconfirmed.length} unconfirmed`,
    );
  });

  testNightly('control: a client that does not resume misses the pages sent meanwhile', {}, async () => {
    await using world = await startWorld({ sandbox: { rateLimits: false } });
    await using proxy = await startForgetfulProxy(world.sandbox.url);
    const forgetful = { ...quickTakeover, EARSHOT_FIREHOSE_BASE_URL: proxy.url };
    const account = await world.newAccount();
    const first = await world.startServer(forgetful);
    await first.api(account).createRule({ firehose: 'pulse' });
    await first.kill();
    await world.sandbox.pages([{ url: 'https://news.example/meanwhile', title: 'News', text: 'pulse' }]);
    const second = await world.startServer(forgetful);
    await eventually(
      async () => {
        await world.sandbox.pages([{ url: 'https://news.example/later', title: 'News', text: 'pulse' }]);
        expect(await listedIds(second, account, 'firehose')).toContain('https://news.example/later');
      },
      { timeoutMs: 30_000, intervalMs: 500 },
    );
    expect(proxy.stripped()).toBeGreaterThan(0);
    expect(await listedIds(second, account, 'firehose')).not.toContain('https://news.example/meanwhile');
  });
});
