import type { StreamEnding } from './stream-ending.ts';

export type { StreamEnding } from './stream-ending.ts';

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
  /** A keep-alive. */
  | { readonly kind: 'alive' }
  /** Longer than anything we take; its content was skipped. */
  | { readonly kind: 'too_large' };

export class StreamEnded extends Error {
  readonly ending: StreamEnding;

  constructor(ending: StreamEnding, detail: string, cause?: unknown) {
    super(detail, { cause });
    this.name = 'StreamEnded';
    this.ending = ending;
  }
}
