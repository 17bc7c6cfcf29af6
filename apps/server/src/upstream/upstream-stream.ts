/** The stream of one source, as its ingest worker needs it. */
export interface UpstreamStream {
  /** Yields frames until the stream ends; throws StreamEnded however it ends, also when it never opened. */
  open(from: StreamStart, signal: AbortSignal): AsyncIterable<StreamFrame>;
}

export interface StreamStart {
  /** The last consumed upstream event id, for upstreams that can resume from it. */
  readonly after: string | null;
  /** When it was consumed; null where nobody knows. */
  readonly afterAt?: Date | null;
  /** Without an id: replay what happened since then, if the upstream can. */
  readonly since: Date | null;
  /** The time of the database, with which the others are to be compared. */
  readonly now: Date;
  /** The upstream is to end the stream after so many items, if it can; without it there is no limit. */
  readonly itemsMax?: number;
}

export type StreamFrame =
  /** The upstream accepted the connection: from now on nothing is missed. */
  | { readonly kind: 'opened' }
  | ({ readonly kind: 'item' } & WireItem)
  /** A keep-alive. */
  | { readonly kind: 'alive' }
  /** Longer than any item that we take; its content was skipped. */
  | { readonly kind: 'too_large'; readonly upstreamId: string | null };

/** An item as it came over the wire. */
export interface WireItem {
  readonly text: string;
  /** Where the protocol names the item outside of its text, so that the stream can be resumed behind it; else null. */
  readonly upstreamId: string | null;
}

/** How a stream ends, or fails to open, by what has to happen next. The gap that follows bears it as its reason. */
export const endingKinds = [
  'dropped',
  'stalled',
  'finished',
  'unreachable',
  'failing',
  'rate_limited',
  /** The upstream counts another connection as ours. */
  'connection_in_use',
  /** Somebody else ended our connection: another one of ours, or a person. */
  'displaced',
  'slow_reader',
  'no_rules',
  'rules_invalid',
  'provisioning',
  'no_credit',
  'spend_cap',
  'usage_cap',
  /** The installation has spent what its operator allows. */
  'budget',
  'credentials',
  'bad_request',
  /** The state of the account or app does not allow streams. */
  'degraded',
  'log_unavailable',
  /** The event log or the ledger has gone back: what was heard lately is not in it any more. */
  'log_lost',
  'stopped',
] as const;

export type EndingKind = (typeof endingKinds)[number];

export type StreamEnding =
  /** `silentMs`: since the last byte; whatever happened in that time was not heard. */
  | { readonly kind: 'stalled'; readonly silentMs: number }
  | { readonly kind: 'failing'; readonly status: number }
  | { readonly kind: 'rate_limited'; readonly retryAfterMs: number | null }
  | { readonly kind: 'budget'; readonly retryAfterMs: number; readonly resetsAt: Date }
  | { readonly kind: Exclude<EndingKind, 'stalled' | 'failing' | 'rate_limited' | 'budget'> };

/** Every reason that a gap of the coverage can have: an ending, or what no stream can say of itself. */
export const gapReasons = [...endingKinds, 'not_listening_yet', 'process_died', 'rule_missing'] as const;

export class StreamEnded extends Error {
  readonly ending: StreamEnding;

  constructor(ending: StreamEnding, detail: string, cause?: unknown) {
    super(detail, { cause });
    this.name = 'StreamEnded';
    this.ending = ending;
  }
}
