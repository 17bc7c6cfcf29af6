import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Match } from '@earshot/contract';
import type { Postgres, PostgresUrls } from '@earshot/engines';
import { migrate } from '@earshot/server/admin';
import { eventually, lengthOf, startTcpProxy } from '@earshot/testkit';
import { Client } from 'pg';
import { expect } from 'vitest';
import { ruleWord, startFeed } from '../soak/feed.ts';
import { verdictOn } from '../soak/verdict.ts';
import {
  type Follower,
  followByLongPoll,
  followByName,
  followBySdk,
  followByStream,
  followByWebhook,
} from './followers.ts';
import { startWorld } from './world.ts';

const eventsPerSecond = 40;
const { trafficMs, isQuiet } = lengthOf({
  always: { trafficMs: 8_000, isQuiet: true },
  // A copy under traffic has the webhook's claim, which lasts a minute.
  nightly: { trafficMs: 60_000, isQuiet: false },
});
const within = { timeoutMs: 90_000, intervalMs: 500 };
const env = {
  EARSHOT_SECRETS_KEY: randomBytes(32).toString('base64'),
  EARSHOT_TEST: 'allowInsecureWebhooks=true',
  // Missing posts stay missing: the ledger must have a gap.
  EARSHOT_X_SEARCH_POSTS_PER_DAY: '0',
};

/** The PostgreSQL that is lost. */
export interface Primary {
  readonly urls: PostgresUrls;
  readonly port: number;
  kill(): Promise<void>;
}

type Drill = Awaited<ReturnType<typeof startDrill>>;

/**
 * A world under traffic whose PostgreSQL can be replaced, because the server reaches it through a proxy, with a follower
 * for each way to follow matches.
 */
export async function startDrill<Lost extends Primary & AsyncDisposable>(
  startPrimary: (dir: string) => Promise<Lost>,
) {
  await using stack = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), 'earshot-drill-'));
  // If root runs the tests, PostgreSQL runs as another user, who needs access to its data.
  await chmod(dir, 0o711);
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const primary = stack.use(await startPrimary(join(dir, 'primary')));
  await migrate(primary.urls.owner);
  const target = { port: primary.port };
  const proxy = stack.use(await startTcpProxy({ target }));
  const urls = throughPort(primary.urls, proxy.port);
  const world = stack.use(await startWorld({ database: { url: urls.superuser, urls } }));
  const server = await world.startServer(env);
  const account = await world.newAccount();
  const api = server.api(account);
  const { rule_id: ruleId } = await api.createRule({ x: ruleWord, firehose: ruleWord });

  const over = new AbortController();
  const start = (await api.matches({ order: 'oldest' })).next_cursor ?? '';
  const options = { url: () => server.url, key: account.key, start, signal: over.signal };
  const followers = {
    stream: followByStream(options),
    longPoll: followByLongPoll(options),
    sdk: followBySdk(options),
    namedReader: followByName(options),
    webhook: await followByWebhook(options),
  };
  const feed = startFeed(world.sandbox, eventsPerSecond);
  stack.defer(async () => {
    over.abort();
    await feed.stop();
    await Promise.allSettled(Object.values(followers).map(({ stopped }) => stopped));
  });
  const running = stack.move();
  return {
    dir,
    world,
    server,
    api,
    ruleId,
    feed,
    followers,
    primary,
    /** Kills the primary; from now on the server reaches this PostgreSQL. `before` runs while it reaches none. */
    async replacePrimary(
      by: Pick<Postgres, 'port'>,
      before: () => Promise<unknown> = () => Promise.resolve(),
    ) {
      proxy.refuse(true);
      await primary.kill();
      await before();
      target.port = by.port;
      proxy.refuse(false);
    },
    /** Waits until everything is delivered, and no endpoint is claimed. */
    async untilDelivered() {
      await untilGotAll(followers.webhook, await api.allMatches());
      await eventually(async () => {
        const claimed = await onDatabase(
          primary.urls.superuser,
          'select id from webhooks where lease is not null',
        );
        expect(claimed).toEqual([]);
      }, within);
    },
    /** Stops the traffic and waits until everything has arrived at every follower. */
    async finish() {
      await feed.stop();
      const verdicts = await eventually(async () => {
        const [x, firehose] = await Promise.all([
          verdictOn('x', { api, feed, ruleId }),
          verdictOn('firehose', { api, feed, ruleId }),
        ]);
        const fine = { lost: [], doubled: [], unknown: [] };
        expect({ x, firehose }).toMatchObject({ x: fine, firehose: { ...fine, inGaps: 0 } });
        return { x, firehose };
      }, within);
      const listed = await api.allMatches();
      for (const follower of Object.values(followers)) await untilGotAll(follower, listed);
      return { ...verdicts, listed };
    },
    /** Ids that were given to different matches, among all that any follower received. */
    async ambiguousIds(): Promise<string[]> {
      const got = Object.values(followers).flatMap(({ matches }) => matches);
      const meanings = new Map<string, Set<string>>();
      for (const match of [...got, ...(await api.allMatches())]) {
        meanings.set(match.id, (meanings.get(match.id) ?? new Set()).add(identityOf(match)));
      }
      return [...meanings].filter(([, of]) => of.size > 1).map(([id]) => id);
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Makes a copy under traffic, and sends more that the copy does not have. */
export async function copyUnderTraffic(drill: Drill, takeCopy: () => Promise<void>): Promise<void> {
  const followers = Object.values(drill.followers);
  await eventually(
    () => expect(Math.min(...followers.map(({ matches }) => matches.length))).toBeGreaterThan(20),
    within,
  );
  if (isQuiet) {
    await drill.feed.pausedFor(async () => {
      await drill.untilDelivered();
      await takeCopy();
    });
  } else await takeCopy();
  // Deleted later: the matches that are stored again get other ids than the lost ones.
  await drill.api.createRule({ x: ruleWord, firehose: ruleWord, name: 'made after the backup' });
  await sleep(trafficMs);
}

/** Everything that exists is stored again, and every follower has it, after an `out_of_range` where one is due. */
export async function expectRecovery(drill: Drill) {
  // Some that exist only in the new state.
  await sleep(3_000);
  const { x, listed } = await drill.finish();
  expect(await drill.ambiguousIds()).toEqual([]);
  const { stream, longPoll, sdk } = drill.followers;
  for (const { name, outOfRange } of [stream, longPoll, sdk]) {
    expect({ name, outOfRange }).toMatchObject({ name, outOfRange: [{ reason: 'restored' }] });
  }
  const log = (await drill.world.serverLog()).split('\n');
  expect(log.filter((line) => line.includes('restored to an earlier state'))).not.toEqual([]);
  expect(log.filter((line) => line.includes('is damaged'))).toEqual([]);
  console.info(`${listed.length} matches for each follower; of ${x.sent} posts ${x.inGaps} in gaps`);
  return { x };
}

async function untilGotAll({ name, matches }: Follower, listed: readonly Match[]): Promise<void> {
  await eventually(() => {
    const got = new Set(matches.map(identityOf));
    const missed = listed.filter((match) => !got.has(identityOf(match)));
    expect({ name, missed: missed.length }).toEqual({ name, missed: 0 });
  }, within);
}

export async function onDatabase(url: string, statement: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

/** After a restore, an id may be given to another match. */
const identityOf = ({ id, rule_id, platform_post_id }: Match) => `${id} ${rule_id} ${platform_post_id}`;

function throughPort(urls: PostgresUrls, port: number): PostgresUrls {
  const through = (given: string) => {
    const url = new URL(given);
    url.port = String(port);
    return url.href;
  };
  return {
    superuser: through(urls.superuser),
    owner: through(urls.owner),
    runtime: through(urls.runtime),
    account: through(urls.account),
  };
}
