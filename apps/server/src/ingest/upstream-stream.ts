/** The stream of one source, as its ingest worker needs it. */
export interface UpstreamStream {
  /** Yields frames until the stream ends; throws StreamEnded however it ends, also when it never opened. */
  open(from: StreamStart, signal: AbortSignal): AsyncIterable<StreamFrame>;
}

export interface StreamStart {
  /** The last consumed upstream event id; only Firehose can resume from it. */
  readonly after: string | null;
  /** Without an id: replay what happened since then, if the upstream can. */
  readonly since: Date | null;
}

export type StreamFrame =
  /** The upstream accepted the connection: from now on nothing is missed. */
  | { readonly kind: 'opened' }
  | { readonly kind: 'item'; readonly upstreamId: string | null; readonly text: string }
  /** Longer than anything we take; its content was skipped. */
  | { readonly kind: 'too_large' };

/** How a stream ended, by what has to happen next (see next-attempt.ts). */
export type StreamEnding =
  | { readonly kind: 'dropped' }
  /** `silentMs`: since the last byte; whatever happened in that time was not heard. */
  | { readonly kind: 'stalled'; readonly silentMs: number }
  | { readonly kind: 'finished' }
  | { readonly kind: 'unreachable' }
  | { readonly kind: 'failing'; readonly status: number }
  | { readonly kind: 'rate_limited'; readonly retryAfterMs: number | null }
  | { readonly kind: 'slot_busy' }
  | { readonly kind: 'no_rules' }
  | { readonly kind: 'provisioning' }
  | { readonly kind: 'refused'; readonly reason: 'credentials' | 'credit' | 'request' }
  | { readonly kind: 'log_unavailable' }
  | { readonly kind: 'stopped' };

export class StreamEnded extends Error {
  readonly ending: StreamEnding;

  constructor(ending: StreamEnding, detail: string, cause?: unknown) {
    super(detail, { cause });
    this.name = 'StreamEnded';
    this.ending = ending;
  }
}
