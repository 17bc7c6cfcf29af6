import type { Database } from '../engines/database.ts';
import type { SettledStore } from './check-log.ts';

interface LogCheckRow {
  log_created_at: string;
  checked_through: number;
}

export function createSettledStore(database: Database): SettledStore & { lastChecked(): Promise<number> } {
  return {
    async checkedThrough(logCreatedAt, from) {
      return await database.transaction(async (sql) => {
        const row = await sql.one<LogCheckRow>(
          'select log_created_at, checked_through from log_check for update',
        );
        if (row?.log_created_at === logCreatedAt) return row.checked_through;
        await sql.run('delete from log_check');
        await sql.run('delete from settled_batches where last_sequence <= $1 or $2', [from, row !== null]);
        await sql.run('insert into log_check (log_created_at, checked_through) values ($1, $2)', [
          logCreatedAt,
          from,
        ]);
        return from;
      });
    },
    async lastChecked() {
      const row = await database.one<LogCheckRow>('select log_created_at, checked_through from log_check');
      return row?.checked_through ?? 0;
    },
    async unsettled(after, through) {
      const rows = await database.many<{ sequence: number }>(
        `select sequence from generate_series($1::bigint + 1, $2::bigint) as sequence
         where sequence not in (select unnest(sequences) from settled_batches where last_sequence > $1)
         order by sequence`,
        [after, through],
      );
      return rows.map((row) => row.sequence);
    },
    async advance(through) {
      await database.transaction(async (sql) => {
        await sql.run('update log_check set checked_through = greatest(checked_through, $1)', [through]);
        await sql.run('delete from settled_batches where last_sequence <= $1', [through]);
      });
    },
  };
}
