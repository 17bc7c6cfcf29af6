import type { Deps } from '../deps.ts';
import type { Feed } from '../feed/feed.ts';
import { type Exchange, sendJson } from '../http/exchange.ts';
import type { Route } from '../http/router.ts';
import { knobsToWire } from '../knobs.ts';
import { badRequest, readBody } from './answers.ts';

export function feedControlRoutes(feed: Feed): Route<Deps>[] {
  return [['POST', '/sandbox/feed', (exchange) => changeFeed(exchange, feed)]];
}

/** POST /sandbox/feed: what is omitted stays the same; a rate of 0 stops the posts or the pages. */
async function changeFeed(exchange: Exchange, feed: Feed): Promise<void> {
  const { posts_per_second: posts, pages_per_second: pages, ...unknown } = await readBody(exchange);
  const [name] = Object.keys(unknown);
  if (name !== undefined) throw badRequest(`There is no ${name} here.`);
  const now = feed.rates();
  feed.change({
    postsPerSecond: readRate('posts_per_second', posts, now.postsPerSecond),
    pagesPerSecond: readRate('pages_per_second', pages, now.pagesPerSecond),
  });
  sendJson(exchange.response, 200, knobsToWire({ ...feed.rates() }));
}

const rateMax = 1_000;

function readRate(name: string, given: unknown, otherwise: number): number {
  if (given === undefined) return otherwise;
  if (typeof given !== 'number' || given < 0 || given > rateMax)
    throw badRequest(`${name} is a number from 0 to ${rateMax}.`);
  return given;
}
