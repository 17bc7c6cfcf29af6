import type { Deps } from '../deps.ts';
import { type Exchange, sendJson } from '../http/exchange.ts';
import { admit } from './access.ts';
import type { XApp, XLimit } from './app.ts';
import type { Archive } from './archive.ts';
import type { CountsCall } from './metering.ts';
import type { XPost } from './post.ts';
import { readQuery, readWindow, type SearchReach } from './search-request.ts';

const dayMs = 24 * 3_600_000;
const pageDays = 31;
const bucketMsBy: Readonly<Record<string, number>> = { minute: 60_000, hour: 3_600_000, day: dayMs };
const parameters = new Set(['query', 'start_time', 'end_time', 'granularity', 'next_token']);

interface CountsIndex extends SearchReach {
  readonly limit: Extract<XLimit, 'countsRecent' | 'countsAll'>;
  readonly call: CountsCall;
}

const recent: CountsIndex = {
  limit: 'countsRecent',
  call: 'countsRecent',
  reachesBackMs: 7 * dayMs,
  queryLengthMax: 512,
};
const all: CountsIndex = {
  limit: 'countsAll',
  call: 'countsAll',
  reachesBackMs: 20 * 365 * dayMs,
  queryLengthMax: 1_024,
  defaultSpanMs: 30 * dayMs,
};

/** GET /2/tweets/counts/recent */
export const countRecent = (exchange: Exchange, deps: Deps) => count(recent, exchange, deps);
/** GET /2/tweets/counts/all */
export const countAll = (exchange: Exchange, deps: Deps) => count(all, exchange, deps);

/**
 * How many posts search would find in each minute, hour or day, including posts that were taken down later. The first and the
 * last bucket are cut to the window. A page has 31 days; the first page is the newest. Each page is billed as one call.
 */
function count(index: CountsIndex, exchange: Exchange, { apps, archive, clock }: Deps): void {
  const app = admit(exchange, apps, index.limit);
  const { query } = exchange;
  const unknown = [...query.keys()].find((name) => !parameters.has(name));
  if (unknown !== undefined) throw app.problems.invalidParameter(unknown, query.get(unknown));
  const granularity = query.get('granularity') ?? 'hour';
  const bucketMs = bucketMsBy[granularity];
  if (bucketMs === undefined) throw app.problems.invalidParameter('granularity', granularity);
  const window = readWindow(index, app, query, clock);
  const toMs = readToken(app, query, window) ?? window.toMs;
  const matches = readQuery(index, app, query);

  const fromMs = Math.max(window.fromMs, Math.ceil(toMs / bucketMs) * bucketMs - pageDays * dayMs);
  const data = countBuckets({ archive, matches, fromMs, toMs, bucketMs });
  app.meter.countCall(clock.nowMs(), index.call);
  sendJson(exchange.response, 200, {
    data,
    meta: {
      total_tweet_count: data.reduce((sum, bucket) => sum + bucket.tweet_count, 0),
      ...(fromMs > window.fromMs && { next_token: fromMs.toString(36) }),
    },
  });
}

interface Counting {
  readonly archive: Archive;
  readonly matches: (post: XPost) => boolean;
  readonly fromMs: number;
  readonly toMs: number;
  readonly bucketMs: number;
}

function countBuckets({ archive, matches, fromMs, toMs, bucketMs }: Counting) {
  const counts = new Map<number, number>();
  for (const { post, createdMs, standsFor } of archive.counted(fromMs, toMs)) {
    if (!matches(post)) continue;
    const bucket = Math.floor(createdMs / bucketMs);
    counts.set(bucket, (counts.get(bucket) ?? 0) + standsFor);
  }
  const first = Math.floor(fromMs / bucketMs);
  const size = Math.ceil(toMs / bucketMs) - first;
  return Array.from({ length: size }, (_, place) => {
    const bucket = first + place;
    return {
      start: toTime(Math.max(fromMs, bucket * bucketMs)),
      end: toTime(Math.min(toMs, (bucket + 1) * bucketMs)),
      tweet_count: Math.round(counts.get(bucket) ?? 0),
    };
  });
}

/** The token is the end of the page in base 36. */
function readToken(
  app: XApp,
  query: Exchange['query'],
  { fromMs, toMs }: { fromMs: number; toMs: number },
): number | undefined {
  const token = query.get('next_token');
  if (token === null) return undefined;
  const endMs = /^[0-9a-z]{1,10}$/.test(token) ? Number.parseInt(token, 36) : Number.NaN;
  if (!(endMs > fromMs && endMs < toMs)) throw app.problems.invalidParameter('next_token', token);
  return endMs;
}

function toTime(atMs: number): string {
  return new Date(atMs).toISOString();
}
