/**
 * What X sends with each post. X charges per resource, and it is unclear whether included authors and posts are
 * charged. Fewer expansions mean a lower possible bill.
 */
export const xExpansions = ['full', 'author', 'none'] as const;
export type XExpansions = (typeof xExpansions)[number];
/** The minimum with which `from:` can be explained and a match names its author. */
export const defaultXExpansions: XExpansions = 'author';

/** `embedding` is Enterprise with the Embedding tier. */
export const xPlans = ['payg', 'enterprise', 'embedding'] as const;
export type XPlan = (typeof xPlans)[number];

/**
 * Which archive is searched. Every app has the last week; the full archive costs the same and accepts longer queries.
 */
export const xSearches = ['recent', 'all'] as const;
export type XSearchArchive = (typeof xSearches)[number];

/** Whether Earshot checks every day which stored posts were deleted on X. */
export const xCompliances = ['off', 'daily'] as const;

export interface XSettings {
  readonly xTokens: ReadonlyArray<{ readonly name: string; readonly token: string }>;
  readonly xBaseUrl: string;
  /** Overrides the number of upstream rules of one app that the plan allows. */
  readonly xRuleCapacity?: number | undefined;
  readonly xRuleDelayMs: number;
  readonly xPlan: XPlan;
  readonly xExpansions: XExpansions;
  readonly xSearch: XSearchArchive;
  readonly xSearchPostsPerDay: number;
  readonly xCompliance: (typeof xCompliances)[number];
  readonly upstreamPace: number;
}
