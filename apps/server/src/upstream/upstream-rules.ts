import type { CallLimit } from './call-budget.ts';

/** The rule set of one source, as its registrar needs it. */
export interface UpstreamRules {
  /** How many rules one `add` or `remove` takes. */
  readonly batchMax: number;
  /** How many of them travel in one call. */
  readonly rulesPerCall: number;
  readonly limits: Readonly<Record<CallKind, CallLimit>>;
  list(call: UpstreamCall): Promise<UpstreamRule[]>;
  /** One outcome per rule, in the same order. */
  add(rules: readonly NewUpstreamRule[], call: UpstreamCall): Promise<AddOutcome[]>;
  /** Rules that do not exist count as removed. */
  remove(ids: readonly string[], call: UpstreamCall): Promise<void>;
  /** How many more rules the upstream says it takes; null when it does not say. */
  room(call: UpstreamCall): Promise<number | null>;
}

export type CallKind = 'read' | 'change';

export interface UpstreamCall {
  readonly signal: AbortSignal;
  /** Asked before every request; throws when it must not be made. */
  readonly permit: (kind: CallKind) => Promise<void>;
}

export interface UpstreamRule {
  readonly id: string;
  readonly value: string;
  readonly tag: string | null;
}

/** By name, in the order of their names; only those that differ from the upstream's default. */
export type RuleOptions = Readonly<Record<string, boolean>>;

export interface NewUpstreamRule {
  readonly value: string;
  readonly options?: RuleOptions;
  readonly tag: string;
}

export type AddOutcome =
  | { readonly kind: 'added'; readonly id: string }
  /** The upstream already has this value, perhaps under a foreign tag. */
  | { readonly kind: 'duplicate' }
  | { readonly kind: 'refused'; readonly words: string }
  /** It takes no more, or not all of those that travelled in the same call. */
  | { readonly kind: 'full'; readonly words: string };

/** What keeps an upstream from taking rules until a person does something about it. */
export const blockings = ['no_credit', 'spend_cap', 'usage_cap', 'credentials'] as const;
export type Blocking = (typeof blockings)[number];

const blockedRetryMs = 60_000;

export const isBlocking = (kind: string | null): kind is Blocking => blockings.some((one) => one === kind);

/**
 * The upstream did not do, or did not say whether it did, what was asked. The change may have been made: list
 * before asking again.
 */
export class UpstreamUnavailable extends Error {
  readonly retryAfterMs: number | null;
  /** Not even asked: this call changed nothing. */
  readonly notCalled: boolean;
  readonly blockedBy: Blocking | null;

  constructor(
    message: string,
    options: {
      retryAfterMs?: number | null;
      notCalled?: boolean;
      blockedBy?: Blocking | null;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'UpstreamUnavailable';
    this.retryAfterMs = options.retryAfterMs ?? null;
    this.notCalled = options.notCalled ?? false;
    this.blockedBy = options.blockedBy ?? null;
  }
}

/** An answer that carries out no rule call, by what its status means. */
export function refusedRuleCall(
  message: string,
  { kind, retryAfterMs }: { kind: string; retryAfterMs: number | null },
): UpstreamUnavailable {
  const blockedBy = isBlocking(kind) ? kind : null;
  return new UpstreamUnavailable(message, {
    retryAfterMs: retryAfterMs ?? (blockedBy ? blockedRetryMs : null),
    blockedBy,
  });
}
