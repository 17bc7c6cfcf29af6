import type { Handler } from '../accounts/call.ts';
import type { Database } from '../engines/database.ts';
import type { Cursors } from '../runtime/cursor.ts';
import { noSuchReader } from './manage-readers.ts';
import { formatOffset, type Offset, openOffset, parseOffset, scopeOfReader, start } from './offset.ts';

/** Moves a named reader, forward only unless `rewind` is set: an acknowledgement that arrives late takes nothing back. */
export function ackMatches(options: {
  readonly database: Database;
  readonly cursors: Cursors;
}): Handler<'AckMatches'> {
  const { database, cursors } = options;
  return async ({ principal: { accountId }, request: { reader, cursor, rewind } }) => {
    const to = openOffset(cursors, scopeOfReader(accountId, reader), cursor);
    const moved = await database.forAccount(accountId).transaction(async (sql) => {
      const row = await sql.one<{ place: string | null }>(
        'select place from readers where account_id = $1 and name = $2 for update',
        [accountId, reader],
      );
      if (!row) throw noSuchReader();
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

function moves(from: Offset, to: Offset, rewind: boolean): boolean {
  if (to.position === from.position) return to.knownRemoved > from.knownRemoved;
  return rewind || to.position > from.position;
}
