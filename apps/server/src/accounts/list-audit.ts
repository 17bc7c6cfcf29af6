import type { AuditEntry } from '@earshot/contract';
import type { Database } from '../engines/database.ts';
import type { Cursors, PageQuery } from '../runtime/cursor.ts';
import type { Handler } from './call.ts';

export function listAudit(options: {
  readonly database: Database;
  readonly cursors: Cursors;
}): Handler<'ListAudit'> {
  const { database, cursors } = options;
  return async ({ principal: { accountId }, request }) => {
    const scope = { accountId, filter: ['audit'] };
    const read = (page: PageQuery) => readAudit(database, accountId, page);
    const { items: entries, next_cursor } = await cursors.page(scope, request, read, ({ id }) => id);
    return { entries, next_cursor };
  };
}

export async function readAudit(
  database: Database,
  accountId: string,
  { before, limit }: PageQuery,
): Promise<AuditEntry[]> {
  const rows = await database
    .forAccount(accountId)
    .many<Omit<AuditEntry, 'created_at'> & { readonly created_at: Date }>(
      `select id, created_at, actor, operation, target_id, before, after, request_id from audit
       where account_id = $1 and ($2::text is null or id < $2) order by id desc limit $3`,
      [accountId, before, limit],
    );
  return rows.map((row) => ({ ...row, created_at: row.created_at.toISOString() }));
}
