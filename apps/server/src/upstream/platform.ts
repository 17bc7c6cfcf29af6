import type { Platform, Removal } from '@earshot/contract';
import type { Language, Tier } from '@earshot/query';
import type { Item, Reading } from './item.ts';
import type { LocalRules } from './local-rules.ts';
import type { Protocol } from './protocol.ts';
import type { RelatedItem, Relations } from './relations.ts';
import type { UpstreamRules } from './upstream-rules.ts';
import type { UpstreamStream, WireItem } from './upstream-stream.ts';

/**
 * Everything in which platforms differ. A platform is a folder with a descriptor and a line in `platforms.ts`;
 * features use the descriptor and never check the platform's name. `Settings` are the settings that it needs, named
 * as in `config/`.
 */
export interface PlatformDescriptor<Settings> {
  readonly language: Language;
  /** What the rule language allows, depending on the operator's plan. */
  readonly tier: (settings: Settings) => Tier;
  /** The number of premium rules is limited per account. */
  readonly ruleType: 'premium' | 'regular';
  /** Whether only accounts on a paid plan may have rules on it. */
  readonly needsPaidPlan: boolean;
  /** Time from the registration of a rule until the platform applies it; nothing is covered until then. */
  readonly ruleDelayMs: (settings: Settings) => number;
  /**
   * Creates an id in the platform's format, shown to accounts as the id of their rule on the platform. The real id
   * would disclose which accounts share a rule.
   */
  readonly newRuleId: () => string;
  /** Whether an open stream is never silent for long. If so, silence means that items may be lost. */
  readonly sendsKeepAlives: boolean;
  /** Whether the stream reports items that their authors deleted. */
  readonly reportsDeletions: boolean;
  readonly readItem: (sourceId: string, item: WireItem) => Reading;
  /** When the item was published, or the platform matched it: what its arrival follows within seconds. Null if unknown. */
  readonly itemTime: (item: Item) => Date | null;
  /** Removes what can be left out of an item that is too large for the event log; null if nothing can. */
  readonly shortenItem: ((item: Item) => Item) | null;
  readonly relationsOf: (item: RelatedItem) => Relations;
  /** The post at an address of the platform; null if it is another page. */
  readonly postOfUrl: (url: URL) => string | null;
  readonly mostAlong: (settings: Settings) => MostAlong;
  readonly billing: Billing;
  /**
   * How long the platform may continue to deliver for a rule that is being stopped. Covers the time until Earshot
   * notices, makes the call, and the platform applies it. Undocumented, so a safe upper limit.
   */
  readonly stopsWithinMs: number;
  /** One per credential in the settings; null if the platform has no counts. */
  readonly openCounts: ((settings: Settings, stack: AsyncDisposableStack) => ItemCounts[]) | null;
  /** One source per credential in the settings; the stack closes them. `rules` are for platforms that do not match. */
  readonly openSources: (settings: Settings, stack: AsyncDisposableStack, rules: LocalRules) => Source[];
}

/** The most that can be included with an item and billed, for estimates. */
export interface MostAlong {
  readonly users: number;
  readonly posts: number;
}

export type ResourceKind = 'post' | 'user' | 'page';
/** Calls that are charged individually. */
export type CallKind = 'counts_recent' | 'counts_all';
export type BilledKind = ResourceKind | CallKind;

/** What the platform charges for the items that it delivers. */
export interface Billing {
  /** The name of an item in the price list. */
  readonly itemKind: ResourceKind;
  /** Resources that were included with the item and may be charged too, by platform id; each once. */
  readonly cameAlong: (item: Item) => {
    readonly users: readonly string[];
    readonly posts: readonly string[];
  };
  /** Whether an item that is delivered again is charged again on another UTC day, or never. */
  readonly chargedAgain: 'daily' | 'never';
  /** Prices in US dollars per unit; settings of the operator override them. */
  readonly prices: Readonly<Partial<Record<BilledKind, number>>>;
}

/** One upstream credential: a rule set with a capacity, and one stream. */
export interface Source {
  readonly id: string;
  readonly platform: Platform;
  /** The maximum number of rules placed on it. */
  readonly capacity: number;
  readonly rules: UpstreamRules;
  readonly stream: UpstreamStream;
  readonly protocol: Protocol;
  /**
   * Ends every connection that the platform counts for this token, and returns their number; null if there is no such
   * call. Only for the lease holder, while it has no open connection.
   */
  readonly endStaleConnections: ((signal: AbortSignal) => Promise<number>) | null;
  readonly repair: Repair;
  /** Null if the platform has no such check, or it is disabled. */
  readonly compliance: Compliance | null;
  /** Null if the platform has no such call. */
  readonly readUsage: ReadUsage | null;
}

/**
 * Number of items that the platform has counted, by UTC day; null if it does not report them. Throws
 * UpstreamUnavailable.
 */
export type ReadUsage = (signal: AbortSignal) => Promise<ReadonlyMap<string, number> | null>;

/** Checks with the platform which stored items must be deleted, and why. */
export interface Compliance {
  /** Maximum number of ids per check. */
  readonly idsMax: number;
  /** May take hours. Throws UpstreamUnavailable if there is no result. */
  check(
    ids: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlyArray<{ readonly id: string; readonly reason: Removal['reason'] }>>;
}

/** How the gaps of a source are repaired. */
export type Repair =
  | { readonly by: 'nothing' }
  /** The stream resumes where the event log ends, and delivers items in match order. */
  | {
      readonly by: 'replay';
      /** How long the platform can replay an item. */
      readonly keptMs: number;
      /** When the platform matched an item; null if unknown. */
      readonly matchedAt: (item: Item) => Date | null;
    }
  /** Fetches missed items: by recovery if available and the gap is recent enough, otherwise by search. */
  | {
      readonly by: 'fetching';
      readonly recovery: Recovery | null;
      readonly search: PostSearch;
      /** Limit per day, because every post that a search returns costs money. */
      readonly postsPerDay: number;
    };

/** The platform replays what its stream delivered or would have delivered. */
export interface Recovery {
  readonly reachesBackMs: number;
  /**
   * Records as in the stream, null for a record that is too large. The iteration ends with the job; any other end
   * throws.
   */
  records(from: Date, to: Date, signal: AbortSignal): AsyncIterable<string | null>;
}

/** Counts the items for a query per hour, on the platform. Each call is billed. */
export interface ItemCounts {
  /** The source that is billed. */
  readonly sourceId: string;
  countabilityOf(value: string): Countability;
  /**
   * Whole hours within the span, as far back as the platform counts. Throws UpstreamUnavailable if there is no
   * result.
   */
  count(
    wanted: { readonly query: string; readonly kind: CountsKind },
    span: { readonly fromMs: number; readonly toMs: number },
    signal: AbortSignal,
  ): Promise<CountedHours>;
}

export type CountsKind = 'counts_recent' | 'counts_all';

export type Countability =
  | {
      readonly countable: true;
      readonly query: string;
      readonly kind: CountsKind;
      /** The share of the counted items that the rule matches. */
      readonly share: number;
      /** Operators that counts ignore, so that counts are too high. */
      readonly dropped: readonly string[];
      /** Items of the rule that counts miss. */
      readonly misses: readonly string[];
    }
  | { readonly countable: false; readonly because: string };

export type CountedHours =
  | { readonly kind: 'counted'; readonly fromMs: number; readonly counts: readonly number[] }
  /** The platform rejects the query permanently. */
  | { readonly kind: 'refused'; readonly words: string };

/** Searches the platform for the items of a rule in a period without coverage. */
export interface PostSearch {
  readonly reachesBackMs: number;
  readonly pageSize: { readonly min: number; readonly max: number };
  /** Time between two calls that keeps the platform's limit. */
  readonly callIntervalMs: number;
  /** What a search for the rule finds, compared with the stream. */
  fidelityOf(value: string): SearchFidelity;
  /** One page of results, newest first. Throws UpstreamUnavailable if there is no result. */
  page(query: SearchQuery, signal: AbortSignal): Promise<SearchPage>;
}

export type SearchFidelity =
  | { readonly searchable: true; readonly fidelity: readonly string[] }
  | { readonly searchable: false; readonly because: string };

export interface SearchQuery {
  readonly value: string;
  /** The rule as the stream would name it in each item. */
  readonly rule: { readonly id: string; readonly tag: string };
  readonly from: Date;
  readonly to: Date;
  readonly size: number;
  readonly token: string | null;
}

export type SearchPage =
  | {
      readonly kind: 'page';
      /** Items in the form of the stream. */
      readonly items: readonly WireItem[];
      readonly next: string | null;
    }
  /** The platform rejects the query permanently. */
  | { readonly kind: 'refused'; readonly words: string };
