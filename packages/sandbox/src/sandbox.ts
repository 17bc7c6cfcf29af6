import { closeBluesky, createBluesky } from './bluesky/bluesky.ts';
import { blueskyRoutes, blueskySocketRoutes } from './bluesky/stream-api.ts';
import { createClock } from './clock.ts';
import { billControlRoutes } from './control/bill-control.ts';
import { blueskyControlRoutes, blueskyFeedRoutes } from './control/bluesky-control.ts';
import { faultsControlRoutes } from './control/faults-control.ts';
import { feedControlRoutes } from './control/feed-control.ts';
import { firehoseControlRoutes } from './control/firehose-control.ts';
import { judgeControlRoutes } from './control/judge-control.ts';
import { knobsControlRoutes } from './control/knobs-control.ts';
import { xControlRoutes } from './control/x-control.ts';
import type { Deps } from './deps.ts';
import { createFaults } from './faults.ts';
import { createBlueskyFeed } from './feed/bluesky-feed.ts';
import { createFeed } from './feed/feed.ts';
import { writeHistory } from './feed/history.ts';
import { firehoseKnobs } from './firehose/knobs.ts';
import { type Organization, toMicroUsd } from './firehose/organization.ts';
import { firehoseRoutes } from './firehose/routes.ts';
import { createTap } from './firehose/tap.ts';
import type { Route } from './http/router.ts';
import { startServer } from './http/server.ts';
import { startTlsFront } from './http/tls-front.ts';
import { judgeRoutes } from './judge/chat-api.ts';
import { createJudge } from './judge/judge.ts';
import { assumedPositions } from './knobs.ts';
import { defaultManagementKey, defaultTapToken, defaultXToken, type SandboxOptions } from './options.ts';
import { createRandom } from './random.ts';
import { createSnowflakes } from './snowflake.ts';
import { createXApp } from './x/app.ts';
import { createArchive } from './x/archive.ts';
import { xRoutes } from './x/routes.ts';

export interface Sandbox extends AsyncDisposable {
  readonly url: string;
  /** The same by TLS, under the name `localhost`; null without `tls` in the options. */
  readonly tlsUrl: string | null;
  close(): Promise<void>;
}

const defaultBacklogBytesMax = 8 * 1024 * 1024;

const staticRoutes: readonly Route<Deps>[] = [
  ...xRoutes,
  ...firehoseRoutes,
  ...blueskyRoutes,
  ...judgeRoutes,
  ...xControlRoutes,
  ...firehoseControlRoutes,
  ...blueskyControlRoutes,
  ...judgeControlRoutes,
  ...billControlRoutes,
  ...knobsControlRoutes,
  ...faultsControlRoutes,
];

/** X under `/2/…`, Firehose and the judge under `/v1/…`, Bluesky under `/xrpc/…` and `/subscribe`, and the control API under `/sandbox/…`, on one loopback port. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const deps = createDeps(options);
  // The feed has its own generator, so that armed faults do not change what it publishes.
  const feed = createFeed({ ...deps, random: createRandom(options.seed ?? 1), rates: options.feed });
  const blueskyFeed = createBlueskyFeed({
    bluesky: deps.bluesky,
    clock: deps.clock,
    // Its own generator, so that the other feed publishes the same with and without it.
    random: createRandom((options.seed ?? 1) + 2),
    postsPerSecond: options.blueskyPostsPerSecond ?? 0,
  });
  const routes = [...staticRoutes, ...feedControlRoutes(feed), ...blueskyFeedRoutes(blueskyFeed)];
  const server = await startServer(options, { routes, socketRoutes: blueskySocketRoutes }, deps);
  const front = options.tls ? await startTlsFront(0, server.url, options.tls) : null;
  feed.start();
  blueskyFeed.start();
  // Takes seconds on a busy machine, and a caller waits five for its first count.
  if (options.feed?.postsPerSecond) setImmediate(deps.archive.prepare);
  const close = async () => {
    feed.stop();
    blueskyFeed.stop();
    closeBluesky(deps.bluesky);
    await front?.close();
    await server.close();
  };
  return { url: server.url, tlsUrl: front?.url ?? null, close, [Symbol.asyncDispose]: close };
}

function createDeps(options: SandboxOptions): Deps {
  const speed = options.speed ?? 1;
  if (!(speed > 0)) throw new RangeError('speed must be above 0');
  const clock = createClock(speed);
  const startedMs = clock.nowMs();
  const nextId = createSnowflakes();
  const rateLimits = options.rateLimits ?? true;
  const ruleDelayMs = options.ruleDelayMs ?? clock.realMs(2_000);
  const xApps = options.xApps ?? [{ token: defaultXToken }];
  const taps = (options.taps ?? [{ token: defaultTapToken }]).map((tap) =>
    createTap({ ...tap, clock, rateLimits }),
  );
  const organization: Organization = {
    managementKey: options.managementKey ?? defaultManagementKey,
    balanceMicroUsd: toMicroUsd(options.balanceUsd ?? 10_000),
    excerptChars: options.excerptChars,
    taps: new Map(taps.map((tap) => [tap.id, tap])),
    knobs: assumedPositions(firehoseKnobs),
  };
  return {
    apps: new Map(
      xApps.map((app) => [app.token, createXApp({ ...app, clock, nextId, ruleDelayMs, rateLimits })]),
    ),
    archive: createArchive(() =>
      writeHistory({
        postsPerSecond: options.feed?.postsPerSecond ?? 0,
        // Its own generator, so that counts do not change what the feed publishes.
        random: createRandom((options.seed ?? 1) + 1),
        nextId,
        untilMs: startedMs,
      }),
    ),
    organization,
    bluesky: createBluesky(clock.nowMs),
    judge: createJudge(),
    clock,
    random: createRandom(options.seed ?? 1),
    faults: createFaults(),
    nextId,
    rateLimits,
    backlogBytesMax: options.slowReaderBytes ?? defaultBacklogBytesMax,
  };
}
