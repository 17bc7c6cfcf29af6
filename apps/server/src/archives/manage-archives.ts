import type { Handler } from '../accounts/call.ts';
import { lockAccount, recordChange } from '../accounts/change.ts';
import type { Database } from '../engines/database.ts';
import { resolveNotices } from '../notices/notice-log.sql.ts';
import type { Cursors, PageQuery } from '../runtime/cursor.ts';
import { Failure } from '../runtime/failure.ts';
import { type ArchiveRow, settingsOf, shown, toArchive } from './archives.sql.ts';

export function listArchives({
  database,
  cursors,
}: {
  readonly database: Database;
  readonly cursors: Cursors;
}): Handler<'ListArchives'> {
  return async ({ principal: { accountId }, request }) => {
    const read = ({ before, limit }: PageQuery) =>
      database.forAccount(accountId).many<ArchiveRow>(
        `select ${shown} from archives where account_id = $1 and ($2::text is null or id < $2)
         order by id desc limit $3`,
        [accountId, before, limit],
      );
    const page = await cursors.page({ accountId, filter: ['archives'] }, request, read, ({ id }) => id);
    return { archives: page.items.map(toArchive), next_cursor: page.next_cursor };
  };
}

export function deleteArchive({ database }: { readonly database: Database }): Handler<'DeleteArchive'> {
  return ({ request: { archive_id }, change }) =>
    database.forAccount(change.accountId).transaction(async (sql) => {
      await lockAccount(sql, change.accountId);
      const row = await sql.one<ArchiveRow & { deleted_at: Date }>(
        `delete from archives where account_id = $1 and id = $2 returning ${shown}, now() as deleted_at`,
        [change.accountId, archive_id],
      );
      if (!row) throw noSuchArchive();
      const answer = { archive_id, deleted_at: row.deleted_at.toISOString() };
      await recordChange(sql, change, { targetId: archive_id, before: settingsOf(row), after: null, answer });
      await resolveNotices(sql, { types: ['archive.failing'], subject: { kind: 'archive', id: archive_id } });
      return answer;
    });
}

/** The same answer, to the byte, for an unknown id, a deleted archive and another account's (I7). */
function noSuchArchive(): Failure {
  return new Failure('not_found', 'The archive does not exist. List your archives to see their ids.');
}
