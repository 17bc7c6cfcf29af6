import type { Keyed } from './matcher.ts';

/** What a rule of the filtered stream can look at. All names and tags are in lower case. */
export type XDocument = Keyed & {
  id: string;
  tokens: ReadonlySet<string>;
  searchLine: string;
  hashtags: ReadonlySet<string>;
  cashtags: ReadonlySet<string>;
  mentions: ReadonlySet<string>;
  /** User name and id. */
  author: readonly string[];
  inReplyTo: readonly string[];
  retweetOf: readonly string[];
  conversationId: string;
  lang: string;
  urls: readonly string[];
  bio: string;
  /** `is:retweet`, `has:links` and so on, as far as they hold. */
  flags: ReadonlySet<string>;
};
