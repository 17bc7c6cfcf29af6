/**
 * What X sends beside each post. X charges per resource that it returns, and it is not settled whether the authors and posts
 * that come along are charged: the less is asked for, the less can be billed.
 */
export const xExpansions = ['full', 'author', 'none'] as const;
export type XExpansions = (typeof xExpansions)[number];
/** The least with which `from:` can be explained and a match names its author. */
export const defaultXExpansions: XExpansions = 'author';

/** `embedding` is Enterprise with the Embedding tier. */
export const xPlans = ['payg', 'enterprise', 'embedding'] as const;
export type XPlan = (typeof xPlans)[number];

/** Which archive is searched: every app has the last week; the whole one costs the same and takes longer queries. */
export const xSearches = ['recent', 'all'] as const;
export type XSearchArchive = (typeof xSearches)[number];

/** Whether X is asked every day which of the kept posts are gone. */
export const xCompliances = ['off', 'daily'] as const;

export interface XSettings {
  readonly xTokens: ReadonlyArray<{ readonly name: string; readonly token: string }>;
  readonly xBaseUrl: string;
  /** Upstream rules of one app, in place of what the plan allows. */
  readonly xRuleCapacity?: number | undefined;
  readonly xRuleDelayMs: number;
  readonly xPlan: XPlan;
  readonly xExpansions: XExpansions;
  readonly xSearch: XSearchArchive;
  readonly xSearchPostsPerDay: number;
  readonly xCompliance: (typeof xCompliances)[number];
  readonly upstreamPace: number;
}
