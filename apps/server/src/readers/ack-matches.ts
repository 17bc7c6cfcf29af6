import type { Handler } from '../accounts/call.ts';
import { assertScope } from '../accounts/keys.ts';
import type { Database } from '../engines/database.ts';
import type { Cursors } from '../runtime/cursor.ts';
import { noSuchReader } from './manage-readers.ts';
import { restoredTo } from './match-reader.sql.ts';
import {
  formatOffset,
  type Offset,
  openOffset,
  parseOffset,
  restored,
  scopeOfReader,
  start,
} from './offset.ts';

/** Moves a named reader, only forward unless `rewind` is set: a late acknowledgement takes nothing back. */
export function ackMatches(options: {
  readonly database: Database;
  readonly cursors: Cursors;
}): Handler<'AckMatches'> {
  const { database, cursors } = options;
  return async ({ principal, request: { reader, cursor, rewind } }) => {
    if (rewind) assertScope(principal, 'readers:write');
    const { accountId } = principal;
    const scope = scopeOfReader(accountId, reader);
    const to = openOffset(cursors, scope, cursor);
    const moved = await database.forAccount(accountId).transaction(async (sql) => {
      // Positions of notices are never behind a cursor, even after a restore.
      const row = await sql.one<{ place: string | null; restored: number | null }>(
        `select place, case when reads = 'matches' then coalesce(${restoredTo('$3')}, ${endBefore('$3')}) end as restored
         from readers where account_id = $1 and name = $2 for update`,
        [accountId, reader, to.position],
      );
      if (!row) throw noSuchReader();
      // The reader itself was set back with the log: it gets the matches again that it has acknowledged since.
      if (row.restored !== null) throw restored(cursors, scope, { ...to, position: row.restored });
      if (!moves(row.place === null ? start : parseOffset(row.place), to, rewind)) return false;
      await sql.run(
        'update readers set place = $3, acknowledged_at = now() where account_id = $1 and name = $2',
        [accountId, reader, formatOffset(to)],
      );
      return true;
    });
    return { reader, moved };
  };
}

/**
 * SQL: the end of the log if the position is beyond it, which happens after a restore and before the next write. At its old position
 * the reader would be inside the gap that the next write skips, and could not leave it: it only moves forward.
 */
const endBefore = (position: string) =>
  `(select last_position from match_log where last_position < ${position})`;

function moves(from: Offset, to: Offset, rewind: boolean): boolean {
  if (to.position === from.position) return to.knownRemoved > from.knownRemoved;
  return rewind || to.position > from.position;
}
