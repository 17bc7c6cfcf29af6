import type { Bluesky } from '../bluesky/bluesky.ts';
import { publish } from '../bluesky/publish.ts';
import { buildDeletion } from '../bluesky/records.ts';
import type { Clock } from '../clock.ts';
import type { Random } from '../random.ts';
import { createBlueskyWriter, type PublishedPost } from './bluesky-posts.ts';
import { createTicker, itemsInTick } from './feed.ts';

export type BlueskyFeed = ReturnType<typeof createBlueskyFeed>;

interface BlueskyFeedOptions {
  readonly bluesky: Bluesky;
  readonly clock: Clock;
  readonly random: Random;
  readonly postsPerSecond: number;
}

const earlierMax = 40;

/** Publishes invented posts at a rate that can be changed while it runs. Other commits come on top. */
export function createBlueskyFeed({ bluesky, clock, random, ...options }: BlueskyFeedOptions) {
  let { postsPerSecond } = options;
  const writer = createBlueskyWriter(random);
  const earlier: PublishedPost[] = [];

  const publishPost = () => {
    const nowMs = clock.nowMs();
    const about = earlier[random.integer(0, earlier.length - 1)];
    const { commit, lang, handle, root } = writer.writePost(about, nowMs);
    const others = about === undefined ? [] : writer.writeOthers(about, nowMs);
    const [{ uri = '', cid = '' } = {}] = publish([commit, ...others], bluesky);
    earlier.push({ uri, cid, did: commit.did, lang, handle, root });
    if (writer.isDeletion()) deleteOldest();
    if (earlier.length > earlierMax) earlier.shift();
  };

  const deleteOldest = () => {
    const deletion = buildDeletion(earlier.shift());
    if (typeof deletion !== 'string') publish([deletion], bluesky);
  };

  const tick = () => {
    if (postsPerSecond === 0) return;
    for (let left = itemsInTick(postsPerSecond, random); left > 0; left -= 1) publishPost();
  };

  return {
    postsPerSecond: () => postsPerSecond,
    change: (wanted: number) => {
      postsPerSecond = wanted;
    },
    ...createTicker(tick),
  };
}
