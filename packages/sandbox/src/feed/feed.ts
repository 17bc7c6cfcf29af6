import type { Deps } from '../deps.ts';
import { buildPage } from '../firehose/page.ts';
import { publishPage } from '../firehose/publish.ts';
import type { FeedRates } from '../options.ts';
import type { Random } from '../random.ts';
import { buildPost } from '../x/post.ts';
import { publishPosts } from '../x/publish.ts';
import { createPageWriter } from './pages.ts';
import { createPostWriter } from './posts.ts';

export type Feed = ReturnType<typeof createFeed>;

interface FeedOptions
  extends Pick<Deps, 'apps' | 'archive' | 'organization' | 'clock' | 'random' | 'nextId'> {
  readonly rates: FeedRates | undefined;
}

/** Real time, because people watch the feed. */
const tickMs = 100;

/** Publishes invented posts and pages at rates that can be changed while it runs. */
export function createFeed(options: FeedOptions) {
  const { organization, clock, random, nextId } = options;
  let rates: FeedRates = options.rates ?? { postsPerSecond: 0, pagesPerSecond: 0 };
  const writePost = createPostWriter(random, () => nextId(clock.nowMs()));
  const writePage = createPageWriter(random);

  const sendPosts = (count: number) => {
    const posts = Array.from({ length: count }, () => buildPost(writePost(), { nowMs: clock.nowMs, nextId }));
    publishPosts(
      posts.filter((post) => typeof post !== 'string'),
      options,
    );
  };
  const sendPages = (count: number) => {
    for (let sent = 0; sent < count; sent += 1) {
      const page = buildPage(writePage(clock.nowMs()), clock.nowMs());
      if (typeof page !== 'string') publishPage(page, organization);
    }
  };

  const tick = () => {
    sendPosts(itemsInTick(rates.postsPerSecond, random));
    sendPages(itemsInTick(rates.pagesPerSecond, random));
  };

  return {
    rates: () => rates,
    change: (wanted: FeedRates) => {
      rates = wanted;
    },
    ...createTicker(tick),
  };
}

export function createTicker(tick: () => void) {
  let timer: NodeJS.Timeout | undefined;
  return {
    start: () => {
      timer = setInterval(tick, tickMs).unref();
    },
    stop: () => clearInterval(timer),
  };
}

/** How many items one tick publishes: the mean, with its fraction rounded up or down at random. */
export function itemsInTick(perSecond: number, random: Random): number {
  const mean = (perSecond * tickMs) / 1_000;
  const whole = Math.floor(mean);
  return whole + (random.chance(mean - whole) ? 1 : 0);
}
