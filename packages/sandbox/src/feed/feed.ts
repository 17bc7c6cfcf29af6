import type { Deps } from '../deps.ts';
import { buildPage } from '../firehose/page.ts';
import { publishPage } from '../firehose/publish.ts';
import type { FeedRates } from '../options.ts';
import type { Random } from '../random.ts';
import { buildPost } from '../x/post.ts';
import { publishPosts } from '../x/publish.ts';
import { createPageWriter } from './pages.ts';
import { createPostWriter, type Shares, usualShares } from './posts.ts';
import { burstAt, flatSeason, levelAt, type Season } from './season.ts';
import type { Topic } from './topics.ts';

export type Feed = ReturnType<typeof createFeed>;

interface FeedOptions
  extends Pick<Deps, 'apps' | 'archive' | 'organization' | 'clock' | 'random' | 'nextId'> {
  readonly rates: FeedRates | undefined;
  /** Of its bursts. */
  readonly seed: number;
}

export interface FeedSettings extends FeedRates {
  readonly season: Season;
  readonly shares: Shares;
}

/** Real time, because people watch the feed. */
const tickMs = 100;

/** Publishes invented posts and pages at rates that can be changed while it runs. */
export function createFeed(options: FeedOptions) {
  const { organization, clock, random, nextId, seed } = options;
  let settings: FeedSettings = {
    ...(options.rates ?? { postsPerSecond: 0, pagesPerSecond: 0 }),
    season: flatSeason,
    shares: usualShares,
  };
  let timer: NodeJS.Timeout | undefined;
  const writePost = createPostWriter(random, () => nextId(clock.nowMs()));
  const writePage = createPageWriter(random);

  const sendPosts = (count: number, topic?: Topic) => {
    const { shares } = settings;
    const posts = Array.from({ length: count }, () =>
      buildPost(writePost({ topic, shares }), { nowMs: clock.nowMs, nextId }),
    );
    publishPosts(
      posts.filter((post) => typeof post !== 'string'),
      options,
    );
  };
  const sendPages = (count: number, topic?: Topic) => {
    for (let sent = 0; sent < count; sent += 1) {
      const page = buildPage(writePage(clock.nowMs(), topic), clock.nowMs());
      if (typeof page !== 'string') publishPage(page, organization);
    }
  };

  const tick = () => {
    const { postsPerSecond, pagesPerSecond, season } = settings;
    const level = levelAt(season, clock.nowMs());
    sendPosts(itemsInTick(postsPerSecond * level, random));
    sendPages(itemsInTick(pagesPerSecond * level, random));
    const burst = burstAt(season, seed, clock.nowMs());
    if (burst === undefined) return;
    const extra = level * (season.burstFactor - 1);
    sendPosts(itemsInTick(postsPerSecond * extra, random), burst.topic);
    sendPages(itemsInTick(pagesPerSecond * extra, random), burst.topic);
  };

  return {
    settings: () => settings,
    change: (wanted: FeedSettings) => {
      settings = wanted;
    },
    start: () => {
      timer = setInterval(tick, tickMs).unref();
    },
    stop: () => clearInterval(timer),
  };
}

/** How many items one tick publishes: the mean, with its fraction rounded up or down at random. */
function itemsInTick(perSecond: number, random: Random): number {
  const mean = (perSecond * tickMs) / 1_000;
  const whole = Math.floor(mean);
  return whole + (random.chance(mean - whole) ? 1 : 0);
}
