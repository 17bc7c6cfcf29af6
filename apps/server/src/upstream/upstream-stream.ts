/** The stream of one source, as its ingest worker needs it. */
export interface UpstreamStream {
  /** Yields frames until the stream ends. Always ends with StreamEnded, even if the stream never opened. */
  open(from: StreamStart, signal: AbortSignal): AsyncIterable<StreamFrame>;
}

export interface StreamStart {
  /** The last consumed event id, for platforms that can resume from it. */
  readonly after: string | null;
  /** When it was consumed; null if unknown. */
  readonly afterAt?: Date | null;
  /** Without an id: replay from this time, if the platform can. */
  readonly since: Date | null;
  /** The time of the database, the reference for the other times. */
  readonly now: Date;
  /** Ends the stream after this many items, if the platform can. No limit if absent. */
  readonly itemsMax?: number;
}

export type StreamFrame =
  /** The platform accepted the connection: from now on nothing is missed. */
  | { readonly kind: 'opened' }
  | ({ readonly kind: 'item' } & WireItem)
  /** A keep-alive. */
  | { readonly kind: 'alive' }
  /** Everything up to this id was received, and none of it since the last frame matched. For platforms that Earshot matches. */
  | { readonly kind: 'passed'; readonly upstreamId: string }
  /** The author deleted an item. `key` is that of the item. */
  | {
      readonly kind: 'deleted';
      readonly upstreamId: string;
      readonly platformPostId: string;
      readonly key: string;
    }
  /** The platform no longer has earlier items, so it does not replay them. */
  | { readonly kind: 'lost'; readonly before: Date }
  /** Longer than any accepted item; its content was skipped. */
  | { readonly kind: 'too_large'; readonly upstreamId: string | null };

/** An item as received. */
export interface WireItem {
  readonly text: string;
  /** The event id, if the protocol sends it outside the text, to resume after it; else null. */
  readonly upstreamId: string | null;
}

/** How a stream ends or fails to open, by the required reaction. Also the reason of the gap that follows. */
export const endingKinds = [
  'dropped',
  'stalled',
  'finished',
  'unreachable',
  'failing',
  'rate_limited',
  /** The platform counts another connection for this token. */
  'connection_in_use',
  /** Another connection of this token, or a person, ended the connection. */
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
  /** The event log or the ledger was restored to an earlier state and lacks recent events. */
  'log_lost',
  'stopped',
] as const;

export type EndingKind = (typeof endingKinds)[number];

export type StreamEnding =
  /** `silentMs` is the time since the last byte; nothing was received in it. */
  | { readonly kind: 'stalled'; readonly silentMs: number }
  | { readonly kind: 'failing'; readonly status: number }
  | { readonly kind: 'rate_limited'; readonly retryAfterMs: number | null }
  | { readonly kind: 'budget'; readonly retryAfterMs: number; readonly resetsAt: Date }
  | { readonly kind: Exclude<EndingKind, 'stalled' | 'failing' | 'rate_limited' | 'budget'> };

/** Every reason of a coverage gap: an ending, or a reason outside the stream. */
export const gapReasons = [...endingKinds, 'not_listening_yet', 'process_died', 'rule_missing'] as const;

export class StreamEnded extends Error {
  readonly ending: StreamEnding;

  constructor(ending: StreamEnding, detail: string, cause?: unknown) {
    super(detail, { cause });
    this.name = 'StreamEnded';
    this.ending = ending;
  }
}
