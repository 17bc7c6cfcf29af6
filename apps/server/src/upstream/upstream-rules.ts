import type { CallLimit } from './call-budget.ts';

/** The rule set of one source, as its registrar needs it. */
export interface UpstreamRules {
  /** Maximum number of rules per `add` or `remove`. */
  readonly batchMax: number;
  /** Number of rules per upstream call. */
  readonly rulesPerCall: number;
  readonly limits: Readonly<Record<CallKind, CallLimit>>;
  list(call: UpstreamCall): Promise<UpstreamRule[]>;
  /** One outcome per rule, in the same order. */
  add(rules: readonly NewUpstreamRule[], call: UpstreamCall): Promise<AddOutcome[]>;
  /** Rules that do not exist count as removed. */
  remove(ids: readonly string[], call: UpstreamCall): Promise<void>;
  /** How many more rules the platform accepts; null if it does not report that. */
  room(call: UpstreamCall): Promise<number | null>;
}

export type CallKind = 'read' | 'change';

export interface UpstreamCall {
  readonly signal: AbortSignal;
  /** Called before every request; throws if the request must not be made. */
  readonly permit: (kind: CallKind) => Promise<void>;
}

export interface UpstreamRule {
  readonly id: string;
  readonly value: string;
  readonly tag: string | null;
}

/** Options by name, sorted by name; only those that differ from the platform's default. */
export type RuleOptions = Readonly<Record<string, boolean>>;

export interface NewUpstreamRule {
  readonly value: string;
  readonly options?: RuleOptions;
  readonly tag: string;
}

export type AddOutcome =
  | { readonly kind: 'added'; readonly id: string }
  /** The platform already has this query, perhaps under another tag. */
  | { readonly kind: 'duplicate' }
  | { readonly kind: 'refused'; readonly words: string }
  /** It accepts no more rules, or not all in the same call. */
  | { readonly kind: 'full'; readonly words: string };

/** Conditions under which a platform accepts no rules until a person acts. */
export const blockings = ['no_credit', 'spend_cap', 'usage_cap', 'credentials'] as const;
export type Blocking = (typeof blockings)[number];

const blockedRetryMs = 60_000;

export const isBlocking = (kind: string | null): kind is Blocking => blockings.some((one) => one === kind);

/**
 * The platform did not carry out the request, or the outcome is unknown. The change may have been made, so list
 * before you retry.
 */
export class UpstreamUnavailable extends Error {
  readonly retryAfterMs: number | null;
  /** The request was not sent, so nothing was changed. */
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

/** The error for an answer to a rule call that was not carried out, by its status. */
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
