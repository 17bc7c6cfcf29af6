import type { StreamEvent } from '../upstream/item.ts';
import { type StoreBatchOptions, storeBatch } from './store-batch.ts';

/** Dead letters that an operator wants to be tried again. */
export interface DeadLetterStore {
  requested(): Promise<RequestedLetter[]>;
  remove(id: number): Promise<void>;
  /** Stays a dead letter, and is not tried again before somebody asks. */
  keep(id: number): Promise<void>;
}

export interface RequestedLetter {
  readonly id: number;
  readonly body: string;
  /** Null when it cannot be read. */
  readonly event: StreamEvent | null;
}

export interface RetryDeadLettersOptions extends StoreBatchOptions {
  readonly letters: DeadLetterStore;
}

/** May run on every node: what two of them store is stored once. */
export async function retryDeadLetters(options: RetryDeadLettersOptions): Promise<void> {
  const { letters, events } = options;
  for (const { id, ...letter } of await letters.requested()) {
    let isStored = false;
    const ack = () => void (isStored = true);
    // Its sequence was settled when it became a dead letter; in a new log the number may be that of another event.
    const logged = { ...letter, sequence: 0, deliveries: 1, ack, again: () => undefined };
    if (letter.event !== null) await storeBatch(options, [logged]);
    if (isStored) await letters.remove(id);
    else await letters.keep(id);
    events.deadLetterRetried({ id, outcome: isStored ? 'stored' : 'failed' });
  }
}
