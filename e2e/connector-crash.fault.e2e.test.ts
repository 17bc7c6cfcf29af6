import { setTimeout as sleep } from 'node:timers/promises';
import { ingestCheckpoints } from '@earshot/server/checkpoints';
import { eventually, lengthOf, testNightly } from '@earshot/testkit';
import { describe, expect, test } from 'vitest';
import { startForgetfulProxy } from './src/forgetful-proxy.ts';
import { askDatabase, gapsOf, type LedgerInterval, postedAtMs, readLedger } from './src/ledger.ts';
import { type Account, type ServerUnderTest, startWorld, type World } from './src/world.ts';

const quickTakeover = { EARSHOT_TEST: 'leaseTtlMs=800' };
/** The ledger is proven every two seconds: the end of an interval may be inaccurate by that much. */
const ledgerBlurMs = 2_500;
/** One label before, one between and one after the writes; the other labels run when their guarded code has changed. */
const tested = lengthOf<readonly string[]>({
  always: ['ingest.read', 'ingest.appended', 'ingest.ended'],
  nightly: ingestCheckpoints,
});
const needsAnEnd = new Set<string>(['ingest.ended', 'ingest.drained']);

interface Sent {
  readonly posts: string[];
  readonly pages: string[];
}

async function sendUntil(world: World, sent: Sent, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const n = sent.pages.length;
    const posts = await world.sandbox.posts([`tremor ${n}`]);
    sent.posts.push(...posts.map(({ id }) => id));
    const url = `https://news.example/${n}`;
    await world.sandbox.pages([{ url, title: 'News', text: `tremor of ${url}` }]);
    sent.pages.push(url);
    await sleep(50);
  }
}

async function listed(server: ServerUnderTest, account: Account, platform: string): Promise<string[]> {
  const matches = await server.api(account).allMatches({ platform });
  return matches.map((match) => match.platform_post_id).toSorted();
}

const isCovered = (ledger: readonly LedgerInterval[], atMs: number) =>
  ledger.some(({ fromMs, toMs }) => fromMs <= atMs && atMs < toMs - ledgerBlurMs);

/** Starts a server that kills itself at the label, makes it reach the label, and waits for its exit. */
async function runUntilCrash(world: World, label: string): Promise<void> {
  const acquired = (log: string) => log.split('lease acquired').length;
  const before = acquired(await world.serverLog());
  // It may exit before it reports that it is ready.
  const doomed = await world
    .startServer({ EARSHOT_TEST: `${quickTakeover.EARSHOT_TEST},crashAt=${label}` })
    .catch(() => ({ exited: Promise.resolve() }));
  const state = { isGone: false };
  const gone = doomed.exited.then(() => {
    state.isGone = true;
  });
  while (needsAnEnd.has(label) && !state.isGone) {
    await world.sandbox.arm({ kind: 'stream_cut' });
    await sleep(100);
  }
  await gone;
  // It worked, and was not asked to stop.
  expect(acquired(await world.serverLog())).toBeGreaterThan(before);
  expect(await world.serverLog()).not.toContain('earshot is down');
}

describe('SIGKILL of the connector', () => {
  test('at each label: no page is lost or duplicated, and a lost post lies in a gap of the ledger', async () => {
    await using world = await startWorld({ sandbox: { rateLimits: false } });
    const account = await world.newAccount();
    const first = await world.startServer(quickTakeover);
    await first.api(account).createRule({ x: 'tremor', firehose: 'tremor' });
    await first.kill();

    const sent: Sent = { posts: [], pages: [] };
    let isOver = false;
    const sending = sendUntil(world, sent, () => isOver);
    for (const label of tested) await runUntilCrash(world, label);
    const server = await world.startServer(quickTakeover);
    const sentBefore = sent.pages.length;
    await eventually(() => expect(sent.pages.length).toBeGreaterThan(sentBefore + 20), {
      timeoutMs: 240_000,
    });
    isOver = true;
    await sending;

    await eventually(
      async () => expect(await listed(server, account, 'firehose')).toEqual(sent.pages.toSorted()),
      { timeoutMs: 240_000 },
    );
    const posts = await listed(server, account, 'x');
    expect(new Set(posts).size).toBe(posts.length);
    const ledger = await readLedger(world, 'x:main');
    const lost = sent.posts.filter((id) => !posts.includes(id));
    expect(lost.length).toBeGreaterThan(0);
    expect(lost.filter((id) => isCovered(ledger, postedAtMs(id)))).toEqual([]);
    // It was killed with an open interval, without a recorded reason.
    expect(gapsOf(ledger).some(({ because }) => because === 'process_died')).toBe(true);
    console.info(`${sent.pages.length} pages, ${sent.posts.length} posts, ${lost.length} posts in gaps`);
  });
});

describe('an outage of 23 hours', () => {
  const page = (name: string) => ({ url: `https://news.example/${name}`, title: 'News', text: 'tremor' });

  /** The server is down for hours. Returns which of the pages sent meanwhile are listed. */
  async function outage(hours: number, isForgetful: boolean) {
    await using world = await startWorld({ sandbox: { rateLimits: false } });
    await using proxy = await startForgetfulProxy(world.sandbox.url);
    const env = isForgetful ? { ...quickTakeover, EARSHOT_FIREHOSE_BASE_URL: proxy.url } : quickTakeover;
    const account = await world.newAccount();
    const first = await world.startServer(env);
    await first.api(account).createRule({ firehose: 'tremor' });
    await world.sandbox.pages([page('before')]);
    await eventually(async () => expect(await listed(first, account, 'firehose')).toHaveLength(1), {
      timeoutMs: 240_000,
    });
    await first.kill();
    const early = Array.from({ length: 50 }, (_, n) => page(`early-${n}`));
    await world.sandbox.pages(early);
    await passHours(world, hours);
    const late = Array.from({ length: 50 }, (_, n) => page(`late-${n}`));
    await world.sandbox.pages(late);
    const second = await world.startServer(env);
    await eventually(
      async () => {
        await world.sandbox.pages([page('after')]);
        expect(await listed(second, account, 'firehose')).toContain(page('after').url);
      },
      { timeoutMs: 240_000, intervalMs: 500 },
    );
    const urls = await listed(second, account, 'firehose');
    const gaps = gapsOf(await readLedger(world, 'firehose:main'));
    const missing = [...early, ...late].filter(({ url }) => !urls.includes(url)).length;
    return { missing, gapHours: Math.max(...gaps.map(({ ms }) => ms)) / 3_600_000 };
  }

  /** Moves the clocks of both sides forward by so much. */
  async function passHours(world: World, hours: number): Promise<void> {
    const aged = await fetch(`${world.sandbox.url}/sandbox/firehose/age`, {
      method: 'POST',
      body: JSON.stringify({ hours }),
    });
    expect(await aged.json()).toMatchObject({ hours });
    await askDatabase(
      world,
      `update coverage set from_at = from_at - $1 * interval '1 hour',
         proven_until = proven_until - $1 * interval '1 hour', received_until = received_until - $1 * interval '1 hour'`,
      [hours],
    );
  }

  test.concurrent('loses no page, and is in the ledger', async () => {
    const { missing, gapHours } = await outage(23, false);
    expect(missing).toBe(0);
    expect(gapHours).toBeGreaterThan(22.9);
    expect(gapHours).toBeLessThan(23.1);
  });

  const control = 'control: a client that does not resume loses all pages of the outage';
  testNightly(control, { concurrent: true }, async () => {
    expect((await outage(23, true)).missing).toBe(100);
  });
});
