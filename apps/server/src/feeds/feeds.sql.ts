import type { AnswerOf, Platform, RelevanceFilter } from '@earshot/contract';

export type Feed = AnswerOf<'ListFeeds'>['feeds'][number];

/** Which matches a feed shows. */
export interface FeedFilter {
  readonly accountId: string;
  readonly ruleIds: readonly string[] | null;
  readonly platform: Platform | null;
  readonly relevance: RelevanceFilter;
  readonly query: string | null;
}

/** The columns of a `FeedRow`. */
export const shown =
  'id, name, rule_ids, platform, relevance, query, created_at, expires_at, last_read_at' as const;

export interface FeedRow {
  readonly id: string;
  readonly name: string;
  readonly rule_ids: string[] | null;
  readonly platform: Platform | null;
  readonly relevance: RelevanceFilter;
  readonly query: string | null;
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly last_read_at: Date | null;
}

export function toFeed({ created_at, expires_at, last_read_at, ...same }: FeedRow): Feed {
  return {
    ...same,
    created_at: created_at.toISOString(),
    expires_at: expires_at?.toISOString() ?? null,
    last_read_at: last_read_at?.toISOString() ?? null,
  };
}

/** The settings of a feed for the audit log, without its token. */
export function auditOf({ name, rule_ids, platform, relevance, query, expires_at }: FeedRow): object {
  return { name, rule_ids, platform, relevance, query, expires_at: expires_at?.toISOString() ?? null };
}
