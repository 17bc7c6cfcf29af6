import type { Feed } from '../feed/feed.ts';
import { sendJson } from '../http/exchange.ts';
import type { Route } from '../http/router.ts';
import { badRequest, readBody } from './answers.ts';

/** POST /sandbox/feed: an omitted rate stays the same; 0 stops the posts or the pages. */
export function feedControlRoutes(feed: Feed): Route<unknown>[] {
  return [
    [
      'POST',
      '/sandbox/feed',
      async (exchange) => {
        const body = await readBody(exchange);
        const { postsPerSecond, pagesPerSecond } = feed.rates();
        feed.setRates({
          postsPerSecond: readRate(body['posts_per_second'], postsPerSecond),
          pagesPerSecond: readRate(body['pages_per_second'], pagesPerSecond),
        });
        const rates = feed.rates();
        sendJson(exchange.response, 200, {
          posts_per_second: rates.postsPerSecond,
          pages_per_second: rates.pagesPerSecond,
        });
      },
    ],
  ];
}

function readRate(value: unknown, otherwise: number): number {
  if (value === undefined) return otherwise;
  if (typeof value !== 'number' || value < 0 || value > 1_000)
    throw badRequest('A rate is 0 to 1000 per second.');
  return value;
}
