import type { StreamEvent } from '../ingest/stream-event.ts';
import { pause } from '../runtime/pause.ts';
import type { Worker } from '../runtime/worker.ts';
import { type StoreBatchOptions, storeBatch } from './store-batch.ts';

const everyMs = 5_000;

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

export interface DeadLetterWorkerOptions extends StoreBatchOptions {
  readonly letters: DeadLetterStore;
}

/** May run on every node: what two of them store is stored once. */
export function createDeadLetterWorker(options: DeadLetterWorkerOptions): Worker {
  return {
    name: 'dead-letters',
    async run(signal) {
      while (!signal.aborted) {
        await retryDeadLetters(options);
        await pause(everyMs, signal);
      }
    },
  };
}

export async function retryDeadLetters(options: DeadLetterWorkerOptions): Promise<void> {
  const { letters, events } = options;
  for (const { id, ...letter } of await letters.requested()) {
    let isStored = false;
    const ack = () => void (isStored = true);
    // It was settled when it was buried; by now its sequence may be that of another event in a new log.
    const logged = { ...letter, sequence: 0, deliveries: 1, ack, again: () => undefined };
    if (letter.event !== null) await storeBatch(options, [logged]);
    if (isStored) await letters.remove(id);
    else await letters.keep(id);
    events.deadLetterRetried({ id, outcome: isStored ? 'stored' : 'failed' });
  }
}
