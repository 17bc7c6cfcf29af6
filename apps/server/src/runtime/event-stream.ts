/** One event of an answer that goes on. Whoever sends the same object to many may encode it once. */
export interface ServerEvent {
  /** Where to go on after it. */
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** An answer without an end: whoever sends it asks for more when the caller has taken what came before. */
export interface EventStream extends Disposable {
  /** Ends it from this side, such as when its key was revoked. */
  readonly ended: AbortSignal;
  /** Nothing when the time has passed or the signal was aborted. */
  nextEvents(waitMs: number, signal: AbortSignal): Promise<readonly ServerEvent[]>;
}
