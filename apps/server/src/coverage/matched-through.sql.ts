import type { Database } from '../engines/database.ts';
import type { MatchedThrough } from './matched-through.ts';

/** Several nodes may tell: the latest counts. */
export function createMatchedThrough(database: Database): MatchedThrough {
  return {
    async now() {
      const row = await database.one<{ now: Date }>('select clock_timestamp() as now');
      return row?.now ?? new Date(0);
    },
    async record(through) {
      await database.run('update match_progress set matched_through = greatest(matched_through, $1)', [
        through,
      ]);
    },
  };
}
