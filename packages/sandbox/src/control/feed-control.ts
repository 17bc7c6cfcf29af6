import type { Deps } from '../deps.ts';
import type { Feed, FeedSettings } from '../feed/feed.ts';
import { type Shares, usualShares } from '../feed/posts.ts';
import { type Burst, flatSeason, type Season, usualSeason } from '../feed/season.ts';
import { runSeason, type SeasonRun } from '../feed/season-run.ts';
import { type Exchange, sendJson } from '../http/exchange.ts';
import { isJsonObject, type JsonObject, textOf } from '../http/json.ts';
import type { Route } from '../http/router.ts';
import { knobsToWire } from '../knobs.ts';
import { badRequest, readBody } from './answers.ts';

export function feedControlRoutes(feed: Feed): Route<Deps>[] {
  return [
    ['POST', '/sandbox/feed', (exchange) => changeFeed(exchange, feed)],
    ['POST', '/sandbox/x/season', publishSeason],
  ];
}

/** POST /sandbox/feed: what is omitted stays the same; a rate of 0 stops the posts or the pages, a season of null is flat. */
async function changeFeed(exchange: Exchange, feed: Feed): Promise<void> {
  const { posts_per_second: posts, pages_per_second: pages, season, ...shares } = await readBody(exchange);
  const now = feed.settings();
  feed.change({
    postsPerSecond: readNumber('posts_per_second', posts, { otherwise: now.postsPerSecond, max: 1_000 }),
    pagesPerSecond: readNumber('pages_per_second', pages, { otherwise: now.pagesPerSecond, max: 1_000 }),
    season: readFeedSeason(season, now),
    shares: readShares(shares, now.shares),
  });
  const { season: changed, shares: changedShares, ...rates } = feed.settings();
  sendJson(exchange.response, 200, {
    ...knobsToWire(rates),
    ...changedShares,
    season: knobsToWire({ ...changed }),
  });
}

/** POST /sandbox/x/season: the posts of many hours at once, for counts and search, or through the streams. */
async function publishSeason(exchange: Exchange, deps: Deps): Promise<void> {
  const run = readRun(await readBody(exchange), deps);
  const { posts, matched, bursts } = await runSeason(run, deps);
  sendJson(exchange.response, 200, {
    from: toTime(run.fromMs),
    to: toTime(run.fromMs + run.hours * hourMs),
    posts,
    ...(run.streamed && { matched }),
    bursts: bursts.map(burstToWire),
  });
}

const hourMs = 3_600_000;
/** More would not stay in the archive. */
const runPostsMax = 150_000;

function readRun(body: JsonObject, { clock }: Deps): SeasonRun {
  const { from, hours: givenHours, posts_per_hour: rate, seed, streamed = false, season, ...shares } = body;
  const hours = readNumber('hours', givenHours, { otherwise: 7 * 24, max: 90 * 24, whole: true });
  const postsPerHour = readNumber('posts_per_hour', rate, { otherwise: 100, max: runPostsMax });
  if (hours * postsPerHour > runPostsMax) throw badRequest(`A run has at most ${runPostsMax} posts.`);
  if (typeof streamed !== 'boolean') throw badRequest('streamed is true or false.');
  const fromMs = from === undefined ? clock.nowMs() - hours * hourMs : Date.parse(textOf(from));
  if (Number.isNaN(fromMs)) throw badRequest('from is a time.');
  return {
    fromMs,
    hours,
    postsPerHour,
    season: readSeason(season ?? {}, usualSeason),
    shares: readShares(shares, usualShares),
    seed: readNumber('seed', seed, { otherwise: 1, max: 0xffff_ffff, whole: true }),
    streamed,
  };
}

function readFeedSeason(given: unknown, { season }: FeedSettings): Season {
  if (given === undefined) return season;
  return given === null ? flatSeason : readSeason(given, usualSeason);
}

function readSeason(given: unknown, otherwise: Season): Season {
  if (!isJsonObject(given)) throw badRequest('season is an object.');
  const {
    day_swing: daySwing,
    peak_hour: peakHour,
    weekend_share: weekendShare,
    bursts_per_day: burstsPerDay,
    burst_factor: burstFactor,
    burst_minutes: burstMinutes,
    ...unknown
  } = given;
  refuseUnknown(unknown);
  return {
    daySwing: readNumber('day_swing', daySwing, { otherwise: otherwise.daySwing, max: 1 }),
    peakHour: readNumber('peak_hour', peakHour, { otherwise: otherwise.peakHour, max: 24 }),
    weekendShare: readNumber('weekend_share', weekendShare, { otherwise: otherwise.weekendShare, max: 10 }),
    burstsPerDay: readNumber('bursts_per_day', burstsPerDay, { otherwise: otherwise.burstsPerDay, max: 24 }),
    burstFactor: readNumber('burst_factor', burstFactor, {
      otherwise: otherwise.burstFactor,
      min: 1,
      max: 100,
    }),
    burstMinutes: readNumber('burst_minutes', burstMinutes, {
      otherwise: otherwise.burstMinutes,
      max: 1_440,
    }),
  };
}

function readShares(given: JsonObject, otherwise: Shares): Shares {
  const { retweets, quotes, replies, ...unknown } = given;
  refuseUnknown(unknown);
  const shares = {
    retweets: readNumber('retweets', retweets, { otherwise: otherwise.retweets, max: 1 }),
    quotes: readNumber('quotes', quotes, { otherwise: otherwise.quotes, max: 1 }),
    replies: readNumber('replies', replies, { otherwise: otherwise.replies, max: 1 }),
  };
  if (shares.retweets + shares.quotes + shares.replies > 1)
    throw badRequest('retweets, quotes and replies are together at most 1.');
  return shares;
}

function refuseUnknown(rest: JsonObject): void {
  const [name] = Object.keys(rest);
  if (name !== undefined) throw badRequest(`There is no ${name} here.`);
}

interface NumberRange {
  readonly otherwise: number;
  readonly min?: number;
  readonly max: number;
  readonly whole?: boolean;
}

function readNumber(name: string, given: unknown, { otherwise, min = 0, max, whole }: NumberRange): number {
  if (given === undefined) return otherwise;
  const fits = typeof given === 'number' && given >= min && given <= max;
  if (!fits || (whole && !Number.isInteger(given)))
    throw badRequest(`${name} is a ${whole ? 'whole ' : ''}number from ${min} to ${max}.`);
  return given;
}

function burstToWire({ startMs, endMs, topic }: Burst): JsonObject {
  return { from: toTime(startMs), to: toTime(endMs), topic: topic.name };
}

function toTime(atMs: number): string {
  return new Date(atMs).toISOString();
}
