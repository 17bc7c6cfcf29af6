import type { Platform, Removal } from '@earshot/contract';
import type { Language, Tier } from '@earshot/query';
import type { Item, Reading } from './item.ts';
import type { Protocol } from './protocol.ts';
import type { UpstreamRules } from './upstream-rules.ts';
import type { UpstreamStream, WireItem } from './upstream-stream.ts';

/**
 * Everything in which one platform differs from another. A platform is a folder with a descriptor in it and a line in
 * `platforms.ts`; capabilities ask the descriptor and know no platform by name. `Settings` are the settings that it
 * needs, by their names in `config/`.
 */
export interface PlatformDescriptor<Settings> {
  readonly language: Language;
  /** What its rule language allows the operator, by what was bought. */
  readonly tier: (settings: Settings) => Tier;
  /** Premium rules are limited in number per account. */
  readonly ruleType: 'premium' | 'regular';
  /** Whether only accounts on a paid plan may have rules on it. */
  readonly needsPaidPlan: boolean;
  /** How long after its registration the upstream heeds a new rule: nothing is covered until then. */
  readonly ruleDelayMs: (settings: Settings) => number;
  /**
   * A new id in the form of the upstream's, which an account is shown as its rule's id on the platform: the upstream's own
   * would tell who shares a rule.
   */
  readonly newRuleId: () => string;
  /** Whether an open stream is never silent for long: then silence is no proof of having heard everything. */
  readonly sendsKeepAlives: boolean;
  readonly readItem: (sourceId: string, item: WireItem) => Reading;
  /** An item that is too large for the event log without what can be left out; null where nothing can. */
  readonly shortenItem: ((item: Item) => Item) | null;
  readonly mostAlong: (settings: Settings) => MostAlong;
  readonly billing: Billing;
  /**
   * How long the platform may go on delivering for a rule that is to be stopped: until that is noticed, the call is made, and the
   * platform heeds it. Not documented, so on the safe side.
   */
  readonly stopsWithinMs: number;
  /** One per credential in the settings; null where the platform counts nothing. */
  readonly openCounts: ((settings: Settings, stack: AsyncDisposableStack) => ItemCounts[]) | null;
  /** One source per credential in the settings; the stack takes what has to be closed. */
  readonly openSources: (settings: Settings, stack: AsyncDisposableStack) => Source[];
}

/** What comes along with an item and may be billed, at most as a rule: for estimates of what is not there yet. */
export interface MostAlong {
  readonly users: number;
  readonly posts: number;
}

export type ResourceKind = 'post' | 'user' | 'page';
/** Calls that are charged by themselves. */
export type CallKind = 'counts_recent' | 'counts_all';
export type BilledKind = ResourceKind | CallKind;

/** What the platform charges for the items that it delivers. */
export interface Billing {
  /** What an item is called in its price list. */
  readonly itemKind: ResourceKind;
  /** What came along with the item and may be charged as well, by the platform's ids; each of them once. */
  readonly cameAlong: (item: Item) => {
    readonly users: readonly string[];
    readonly posts: readonly string[];
  };
  /** Whether an item that is delivered again is charged again on another UTC day, or never. */
  readonly chargedAgain: 'daily' | 'never';
  /** In US dollars for one of each kind; the operator's settings come before these. */
  readonly prices: Readonly<Partial<Record<BilledKind, number>>>;
}

/** One upstream credential: a rule set with a capacity, and one stream. */
export interface Source {
  readonly id: string;
  readonly platform: Platform;
  /** The most rules that are placed on it. */
  readonly capacity: number;
  readonly rules: UpstreamRules;
  readonly stream: UpstreamStream;
  readonly protocol: Protocol;
  /**
   * Ends every connection that the upstream counts as ours and returns how many it ended; null where the upstream has
   * no such call. Only for the holder of the source's lease that has no connection open.
   */
  readonly endStaleConnections: ((signal: AbortSignal) => Promise<number>) | null;
  readonly repair: Repair;
  /** Null where the platform cannot be asked, or must not be. */
  readonly compliance: Compliance | null;
  /** Null where the platform has no such call. */
  readonly readUsage: ReadUsage | null;
}

/** How many items the platform itself has counted, by UTC day; null when it does not tell. Throws UpstreamUnavailable. */
export type ReadUsage = (signal: AbortSignal) => Promise<ReadonlyMap<string, number> | null>;

/** Asks the platform which of the items that are kept here are to be deleted, and why. */
export interface Compliance {
  /** Ids in one question. */
  readonly idsMax: number;
  /** May take hours. Throws UpstreamUnavailable when nobody can say. */
  check(
    ids: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlyArray<{ readonly id: string; readonly reason: Removal['reason'] }>>;
}

/** What fills the gaps of a source's stream. */
export type Repair =
  | { readonly by: 'nothing' }
  /** The stream itself, which resumes where the event log ends and delivers in the order in which items matched. */
  | {
      readonly by: 'replay';
      /** How long the upstream keeps what it can replay. */
      readonly keptMs: number;
      /** When the upstream matched an item; null when it does not say. */
      readonly matchedAt: (item: Item) => Date | null;
    }
  /** Asking the platform for what was missed: by recovery where it has that and reaches back, else by searching. */
  | {
      readonly by: 'fetching';
      readonly recovery: Recovery | null;
      readonly search: PostSearch;
      /** Every post that a search returns costs money. */
      readonly postsPerDay: number;
    };

/** The platform replays what its stream delivered, or would have. */
export interface Recovery {
  readonly reachesBackMs: number;
  /**
   * Records as the stream has them, null for one that is too large; the end of the job is the end of the iteration,
   * anything else throws.
   */
  records(from: Date, to: Date, signal: AbortSignal): AsyncIterable<string | null>;
}

/** Asks the platform how many items there were for a value, hour by hour. Each call is billed. */
export interface ItemCounts {
  /** On whose bill a call is. */
  readonly sourceId: string;
  countabilityOf(value: string): Countability;
  /** Whole hours within the span, as far back as the platform counts. Throws UpstreamUnavailable when nobody can say. */
  count(
    asked: { readonly query: string; readonly kind: CountsKind },
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
      /** The part of the counted items that the rule asks for. */
      readonly share: number;
      /** Operators that are not counted: there are more items than the rule finds. */
      readonly dropped: readonly string[];
      /** What the rule finds beyond what is counted. */
      readonly misses: readonly string[];
    }
  | { readonly countable: false; readonly because: string };

export type CountedHours =
  | { readonly kind: 'counted'; readonly fromMs: number; readonly counts: readonly number[] }
  /** The platform does not take the question, and will not. */
  | { readonly kind: 'refused'; readonly words: string };

/** Asks the platform what it finds for a rule in a time that the stream did not hear. */
export interface PostSearch {
  readonly reachesBackMs: number;
  readonly pageSize: { readonly min: number; readonly max: number };
  /** The time between two calls with which the platform's limit holds. */
  readonly callIntervalMs: number;
  /** What a search for the rule brings back, in comparison with the stream. */
  fidelityOf(value: string): SearchFidelity;
  /** One page, newest first. Throws UpstreamUnavailable when nobody can say. */
  page(asked: SearchAsked, signal: AbortSignal): Promise<SearchPage>;
}

export type SearchFidelity =
  | { readonly searchable: true; readonly fidelity: readonly string[] }
  | { readonly searchable: false; readonly because: string };

export interface SearchAsked {
  readonly value: string;
  /** As the stream would have named the rule in each item. */
  readonly rule: { readonly id: string; readonly tag: string };
  readonly from: Date;
  readonly to: Date;
  readonly size: number;
  readonly token: string | null;
}

export type SearchPage =
  | {
      readonly kind: 'page';
      /** Each as the stream would have delivered it. */
      readonly items: readonly WireItem[];
      readonly next: string | null;
    }
  /** The platform does not take the question, and will not. */
  | { readonly kind: 'refused'; readonly words: string };
