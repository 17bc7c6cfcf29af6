import type { StreamEvent } from '../upstream/item.ts';

/** Events from the log, each to be acknowledged once its matches are committed. */
export interface EventSource {
  /** Yields what is there, up to `max`, as soon as there is something; ends with the signal. */
  batches(max: number, signal: AbortSignal): AsyncIterable<LoggedEvent[]>;
}

export interface LoggedEvent {
  /** Its place in the log. */
  readonly sequence: number;
  /** Null when the message is no event: our own corruption. */
  readonly event: StreamEvent | null;
  /** The message as it stands in the log. */
  readonly body: string;
  /** How often the log has delivered it, this time included. */
  readonly deliveries: number;
  ack(): void;
  /** Have it delivered again after a while. */
  again(delayMs: number): void;
}
