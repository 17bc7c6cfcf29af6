import type { Keyed } from './matcher.ts';

/** What a Firehose rule can look at (firehose.md §12.1). */
export type FirehoseDocument = Keyed & {
  /** Search lines of the text fields: added, removed, added_anchor, removed_anchor, title. */
  text: { [field: string]: string };
  /** Values of the keyword fields: url, domain, language, page_category, page_type, publish_time. */
  keywords: { [field: string]: readonly string[] };
  domainRating: number | undefined;
  publishedAtMs: number | undefined;
  matchedAtMs: number;
};

export const TEXT_FIELDS: readonly string[] = ['added', 'removed', 'added_anchor', 'removed_anchor', 'title'];
export const KEYWORD_FIELDS: readonly string[] = [
  'url',
  'domain',
  'language',
  'page_category',
  'page_type',
  'publish_time',
];
