import type { LogEvent } from '../../apps/server/src/event-log/event-log.ts';

/**
 * Posts and pages that belong together as on the platforms: of the posts, 35% are reposts, 15% replies, 8% quotes, 20% link
 * to a page and 4% copy a text. Of the pages, 15% are changes of an earlier one. They refer to one of the latest items, more often to the
 * newest. Half of the items to which they refer did not match themselves. The same numbers make the same feed.
 */
export function createFeed({ startMs, rules }: { readonly startMs: number; readonly rules: number }) {
  const random = createRandom(7);
  const posts: Array<{ id: string; conversation: string; text: string }> = [];
  const pages: string[] = [];
  let count = 0;
  /** Popular items are chosen more often. */
  const recent = <One>(list: readonly One[]): One | undefined =>
    list[Math.max(0, list.length - 1 - Math.floor(2_000 * random() ** 3))];

  let others = 0;
  /** Some are popular: one in three is one of the last fifty. */
  const nextOther = () => (random() < 0.33 ? others - Math.floor(50 * random()) : ++others);
  const unmatched = (list: typeof posts) => {
    const id = String(1_800_000_000_000_000_000n + BigInt(100 + nextOther()));
    return list.length === 0 ? undefined : { id, conversation: id, text: `${id} ${words(random, 26)}` };
  };
  const unmatchedPage = () => `https://elsewhere.example/${nextOther()}`;

  const post = (n: number, at: string): LogEvent => {
    const id = String(1_900_000_000_000_000_000n + BigInt(n));
    const chance = random();
    const other = random() < 0.5 ? unmatched(posts) : recent(posts);
    const page = random() < 0.5 ? unmatchedPage() : recent(pages);
    const own = { id, conversation: id, text: `pipeline${n % rules} post ${n} ${words(random, 26)}` };
    const references: Array<{ type: string; id: string }> = [];
    const urls: Array<{ url: string; expanded_url: string }> = [];
    if (chance < 0.35 && other) {
      references.push({ type: 'retweeted', id: other.id });
      own.text = `RT @person: ${other.text.slice(0, 120)}`;
    } else if (chance < 0.5 && other) {
      references.push({ type: 'replied_to', id: other.id });
      own.conversation = other.conversation;
    } else if (chance < 0.58 && other) {
      references.push({ type: 'quoted', id: other.id });
      urls.push({ url: 'https://t.co/1', expanded_url: `https://twitter.com/person/status/${other.id}` });
    } else if (chance < 0.78 && page) {
      urls.push({ url: 'https://t.co/2', expanded_url: `${page}?utm_source=x&utm_medium=social` });
    } else if (chance < 0.82 && other) own.text = `${other.text} https://t.co/3`;
    if (references[0]?.type !== 'retweeted') posts.push(own);
    const data = {
      id,
      text: own.text,
      author_id: String(n % 10_000),
      conversation_id: own.conversation,
      created_at: at,
      lang: 'en',
      entities: { urls, mentions: [] },
      public_metrics: { retweet_count: 0, reply_count: 0, like_count: 0, quote_count: 0 },
      ...(references.length > 0 && { referenced_tweets: references }),
    };
    const author = { id: data.author_id, name: 'A person', handle: 'person' };
    return {
      ...event('x', id, at, n),
      payload: {
        url: `https://x.com/person/status/${id}`,
        title: null,
        text: own.text,
        author,
        published_at: at,
        language: 'en',
        raw: { data, includes: { users: [author] } },
      },
    };
  };

  const change = (n: number, at: string): LogEvent => {
    const earlier = random() < 0.15 ? recent(pages) : undefined;
    const url = earlier ?? `https://news${n % 500}.example/2026/11/${n}`;
    if (earlier === undefined) pages.push(url);
    const [title, text] = [`pipeline${n % rules} page ${n}`, words(random, 90)];
    const document = { url, title, language: 'en', diff: { chunks: [{ typ: 'ins', text }] } };
    return {
      ...event('firehose', `page${n}`, at, n),
      platformPostId: url,
      payload: {
        url,
        title,
        text,
        author: null,
        published_at: null,
        language: 'en',
        raw: { matched_at: at, document },
      },
    };
  };

  const event = (platform: 'x' | 'firehose', key: string, at: string, n: number) => ({
    platform,
    sourceId: `${platform}:main`,
    upstreamEventId: key,
    key,
    day: at.slice(0, 10),
    platformPostId: key,
    rules: [{ upstreamRuleId: `${platform}${n % rules}`, tag: null }],
  });

  return {
    /** The next events, 10 per second of the feed. */
    next(size: number): LogEvent[] {
      return Array.from({ length: size }, () => {
        const n = count++;
        const at = new Date(startMs + n * 100).toISOString();
        return random() < 0.6 ? post(n, at) : change(n, at);
      });
    },
  };
}

const vocabulary = Array.from({ length: 5_000 }, (_, n) => `word${n.toString(36)}`);

const words = (random: () => number, length: number) =>
  Array.from({ length }, () => vocabulary[Math.floor(5_000 * random() ** 2)]).join(' ');

/** Mulberry32. */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
