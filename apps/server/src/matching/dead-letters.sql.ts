import type { Database } from '../engines/database.ts';
import type { StreamEvent } from '../upstream/item.ts';
import type { DeadLetterStore } from './dead-letters.ts';

const retryBatch = 50;
const listMax = 1_000;

/** As an operator sees it. */
export interface DeadLetterRow {
  readonly id: number;
  readonly created_at: Date;
  readonly sequence: number;
  readonly error: string;
  readonly deliveries: number;
  readonly retry_requested: boolean;
  readonly body: string;
}

export interface DeadLetters extends DeadLetterStore {
  /** The newest ones. */
  list(): Promise<DeadLetterRow[]>;
  /** All of them without an id; returns how many will be tried again. */
  requestRetry(id: number | null): Promise<number>;
}

export function createDeadLetters(database: Database): DeadLetters {
  return {
    async requested() {
      const rows = await database.many<{ id: number; body: string }>(
        'select id, body from dead_letters where retry_requested order by id limit $1',
        [retryBatch],
      );
      return rows.map((row) => ({ ...row, event: readEvent(row.body) }));
    },
    async remove(id) {
      await database.run('delete from dead_letters where id = $1', [id]);
    },
    async keep(id) {
      await database.run('update dead_letters set retry_requested = false where id = $1', [id]);
    },
    list: () =>
      database.many<DeadLetterRow>(
        `select id, created_at, sequence, error, deliveries, retry_requested, body
         from dead_letters order by id desc limit $1`,
        [listMax],
      ),
    requestRetry: (id) =>
      database.run('update dead_letters set retry_requested = true where $1::bigint is null or id = $1', [
        id,
      ]),
  };
}

/** The text is what the log held: JSON of ours, or no event. */
function readEvent(body: string): StreamEvent | null {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}
