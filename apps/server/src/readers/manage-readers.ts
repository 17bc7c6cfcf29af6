import type { Platform, Reader, RelevanceFilter } from '@earshot/contract';
import type { Handler } from '../accounts/call.ts';
import { recordChange } from '../accounts/change.ts';
import type { Database } from '../engines/database.ts';
import type { Cursors, PageQuery } from '../runtime/cursor.ts';
import { Failure } from '../runtime/failure.ts';

const listed = 'name, reads, rule_id, platform, relevance, grouping, created_at, acknowledged_at';

interface ReaderRow {
  readonly name: string;
  readonly reads: Reader['of'];
  readonly rule_id: string | null;
  readonly platform: Platform | null;
  readonly relevance: RelevanceFilter;
  readonly grouping: Reader['group'];
  readonly created_at: Date;
  readonly acknowledged_at: Date | null;
}

export function listReaders({
  database,
  cursors,
}: {
  readonly database: Database;
  readonly cursors: Cursors;
}): Handler<'ListReaders'> {
  return async ({ principal: { accountId }, request }) => {
    const read = ({ before: after, limit }: PageQuery) =>
      database.forAccount(accountId).many<ReaderRow>(
        `select ${listed} from readers where account_id = $1 and ($2::text is null or name collate "C" > $2)
         order by name collate "C" limit $3`,
        [accountId, after, limit],
      );
    const page = await cursors.page({ accountId, filter: ['readers'] }, request, read, ({ name }) => name);
    return { readers: page.items.map(toReader), next_cursor: page.next_cursor };
  };
}

export function deleteReader({ database }: { readonly database: Database }): Handler<'DeleteReader'> {
  return ({ request: { reader: name }, change }) =>
    database.forAccount(change.accountId).transaction(async (sql) => {
      const row = await sql.one<ReaderRow & { deleted_at: Date }>(
        `delete from readers where account_id = $1 and name = $2 returning ${listed}, now() as deleted_at`,
        [change.accountId, name],
      );
      if (!row) throw noSuchReader();
      const answer = { reader: name, deleted_at: row.deleted_at.toISOString() };
      await recordChange(sql, change, { targetId: name, before: toReader(row), after: null, answer });
      return answer;
    });
}

export function noSuchReader(): Failure {
  return new Failure('not_found', 'The reader does not exist. List your readers to see their names.');
}

function toReader({
  name,
  reads,
  rule_id,
  platform,
  relevance,
  grouping,
  created_at,
  acknowledged_at,
}: ReaderRow): Reader {
  return {
    name,
    of: reads,
    rule_id,
    platform,
    relevance,
    group: grouping,
    created_at: created_at.toISOString(),
    acknowledged_at: acknowledged_at?.toISOString() ?? null,
  };
}
