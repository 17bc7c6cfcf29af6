import type { StreamEvent } from '../upstream/item.ts';

/** The durable log between the upstreams, which forget, and the database, which may be slow or down. */
export interface EventLog {
  /**
   * Resolves when the log has the event on disk; tries again under the same message id for a minute, then
   * throws. `consumed` is the upstream position that is safely in the log at this moment: it travels with the
   * event, so the log itself tells where to resume and no second store can disagree. `giveUp` ends the trying.
   */
  append(event: StreamEvent, consumed: string | null, giveUp?: AbortSignal): Promise<void>;
  /** Where to resume the source, from the last event of it in the log. */
  consumedBy(sourceId: string): Promise<string | null>;
}
