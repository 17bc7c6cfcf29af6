import type { Database } from '../engines/database.ts';
import { readMessage } from '../event-log/event-consumer.ts';
import { type StoreBatchOptions, storeBatch } from './match-worker.ts';

const retryBatch = 50;
const listMax = 1_000;

/** A dead letter as operators see it. */
export interface DeadLetterRow {
  readonly id: number;
  readonly created_at: Date;
  readonly sequence: number;
  readonly error: string;
  readonly deliveries: number;
  readonly retry_requested: boolean;
  readonly body: string;
}

/** Events that could not be stored. The match store writes them; operators list and retry them. */
export function createDeadLetters(database: Database) {
  return {
    /** Dead letters that an operator wants to retry. */
    requested: () =>
      database.many<{ id: number; body: string; created_at: Date }>(
        'select id, body, created_at from dead_letters where retry_requested order by id limit $1',
        [retryBatch],
      ),
    async remove(id: number): Promise<void> {
      await database.run('delete from dead_letters where id = $1', [id]);
    },
    /** Keeps it as a dead letter, without further retries until an operator requests one. */
    async keep(id: number): Promise<void> {
      await database.run('update dead_letters set retry_requested = false where id = $1', [id]);
    },
    /** The newest dead letters. */
    list: () =>
      database.many<DeadLetterRow>(
        `select id, created_at, sequence, error, deliveries, retry_requested, body
         from dead_letters order by id desc limit $1`,
        [listMax],
      ),
    /** Retries one dead letter, or all if the id is null. Returns their number. */
    requestRetry: (id: number | null) =>
      database.run('update dead_letters set retry_requested = true where $1::bigint is null or id = $1', [
        id,
      ]),
  };
}

export interface RetryDeadLettersOptions extends StoreBatchOptions {
  readonly letters: ReturnType<typeof createDeadLetters>;
}

/** May run on every node, because duplicates are stored once. */
export async function retryDeadLetters(options: RetryDeadLettersOptions): Promise<void> {
  const { letters, telemetry } = options;
  for (const { id, body, created_at: time } of await letters.requested()) {
    let isStored = false;
    // Its sequence was settled when it became a dead letter. In a new log, the number may belong to another event.
    const events = readMessage(
      { seq: 0, time, string: () => body },
      { deliveries: 1, onSettled: () => void (isStored = true), redeliver: () => undefined },
    );
    const isReadable = events.every(({ event }) => event !== null);
    // Not billed again: it was billed when it became a dead letter.
    if (isReadable) {
      await storeBatch(
        options,
        events.map((logged) => ({ ...logged, loggedAt: null })),
      );
    }
    if (isStored) await letters.remove(id);
    else await letters.keep(id);
    telemetry.deadLetterRetried({ id, outcome: isStored ? 'stored' : 'failed' });
  }
}
