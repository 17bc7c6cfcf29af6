/** How a stream ends, or fails to open, by what has to happen next. The gap that follows bears it as its reason. */
export const endingKinds = [
  'dropped',
  'stalled',
  'finished',
  'unreachable',
  'failing',
  'rate_limited',
  /** The upstream counts another connection as ours. */
  'slot_busy',
  /** Somebody else ended our connection: another one of ours, or a person. */
  'displaced',
  'slow_reader',
  'no_rules',
  'rules_invalid',
  'provisioning',
  'no_credit',
  'spend_cap',
  'usage_cap',
  'credentials',
  'bad_request',
  /** The state of the account or app does not allow streams. */
  'degraded',
  'log_unavailable',
  'stopped',
] as const;

export type EndingKind = (typeof endingKinds)[number];

export type StreamEnding =
  /** `silentMs`: since the last byte; whatever happened in that time was not heard. */
  | { readonly kind: 'stalled'; readonly silentMs: number }
  | { readonly kind: 'failing'; readonly status: number }
  | { readonly kind: 'rate_limited'; readonly retryAfterMs: number | null }
  | { readonly kind: Exclude<EndingKind, 'stalled' | 'failing' | 'rate_limited'> };

/** Every reason that a gap of the coverage can have: an ending, or what no stream can say of itself. */
export const gapReasons = [...endingKinds, 'not_listening_yet', 'process_died', 'rule_missing'] as const;
