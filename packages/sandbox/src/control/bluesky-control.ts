import { blueskyKnobs } from '../bluesky/knobs.ts';
import { type Change, publish } from '../bluesky/publish.ts';
import { buildAccount, buildCommit, buildDeletion, buildIdentity, buildPost } from '../bluesky/records.ts';
import type { Deps } from '../deps.ts';
import type { BlueskyFeed } from '../feed/bluesky-feed.ts';
import { type Exchange, sendJson } from '../http/exchange.ts';
import type { Route } from '../http/router.ts';
import { knobsToWire, turnKnobs } from '../knobs.ts';
import { badRequest, buildAll, readBody, readOneOrMany } from './answers.ts';

export const blueskyControlRoutes: readonly Route<Deps>[] = [
  [
    'POST',
    '/sandbox/bluesky/posts',
    (exchange, deps) => inject(exchange, deps, 'posts', (post) => buildPost(post, deps.clock.nowMs())),
  ],
  ['POST', '/sandbox/bluesky/commits', (exchange, deps) => inject(exchange, deps, 'commits', buildCommit)],
  [
    'POST',
    '/sandbox/bluesky/deletions',
    (exchange, deps) => inject(exchange, deps, 'deletions', buildDeletion),
  ],
  [
    'POST',
    '/sandbox/bluesky/identities',
    (exchange, deps) => inject(exchange, deps, 'identities', buildIdentity),
  ],
  ['POST', '/sandbox/bluesky/accounts', (exchange, deps) => inject(exchange, deps, 'accounts', buildAccount)],
  ['GET', '/sandbox/bluesky/state', readState],
  ['GET', '/sandbox/bluesky/log', readLog],
  ['GET', '/sandbox/bluesky/knobs', readKnobs],
  ['POST', '/sandbox/bluesky/knobs', turn],
];

export function blueskyFeedRoutes(feed: BlueskyFeed): Route<Deps>[] {
  return [['POST', '/sandbox/bluesky/feed', (exchange) => changeFeed(exchange, feed)]];
}

/** Publishes the items of the body and answers with the same list. */
async function inject(
  exchange: Exchange,
  { bluesky }: Deps,
  plural: string,
  build: (input: unknown) => Change | string,
): Promise<void> {
  const changes = buildAll(await readOneOrMany(exchange, plural), build);
  const published = publish(changes, bluesky);
  sendJson(exchange.response, 200, {
    [plural]: published.map((one, index) => ({ ...one, did: changes[index]?.did })),
  });
}

function readState({ response }: Exchange, { bluesky, clock }: Deps): void {
  const { log, connections, connectionsTotal, journal, knobs } = bluesky;
  const oldestUs = (clock.nowMs() - clock.realMs(knobs.lookbackMs)) * 1_000;
  const open = [...connections];
  sendJson(response, 200, {
    next_seq: log.nextSeq(),
    floor_seq: log.floor(oldestUs),
    events_in_buffer: log.size(),
    posts: journal.counts,
    connections: {
      open: open.length,
      stalled: open.filter(({ stream }) => stream.isStalled()).length,
      list: open.map((connection) => connection.describe()),
    },
    connections_total: connectionsTotal,
  });
}

const logLimitMax = 10_000;

function readLog({ response, query }: Exchange, { bluesky }: Deps): void {
  const after = Number(query.get('after') ?? 0);
  const limit = Number(query.get('limit') ?? logLimitMax);
  if (!Number.isInteger(after) || !Number.isInteger(limit))
    throw badRequest('after and limit are whole numbers.');
  const posts = bluesky.journal.after(after, Math.min(limit, logLimitMax));
  sendJson(response, 200, { posts, next_after: posts.at(-1)?.seq ?? after });
}

function readKnobs({ response }: Exchange, { bluesky }: Deps): void {
  sendJson(response, 200, { knobs: knobsToWire(bluesky.knobs) });
}

async function turn(exchange: Exchange, deps: Deps): Promise<void> {
  const problem = turnKnobs(blueskyKnobs, deps.bluesky.knobs, await readBody(exchange));
  if (problem !== undefined) throw badRequest(problem);
  readKnobs(exchange, deps);
}

const rateMax = 10_000;

async function changeFeed(exchange: Exchange, feed: BlueskyFeed): Promise<void> {
  const { posts_per_second: rate } = await readBody(exchange);
  if (typeof rate !== 'number' || rate < 0 || rate > rateMax)
    throw badRequest(`posts_per_second is a number from 0 to ${rateMax}.`);
  feed.change(rate);
  sendJson(exchange.response, 200, { posts_per_second: feed.postsPerSecond() });
}
