import type { AuditEntry } from '@earshot/contract';
import type { Database } from '../engines/database.ts';
import type { AuditReader } from './list-audit.ts';

type AuditRow = Omit<AuditEntry, 'created_at'> & { readonly created_at: Date };

export function createAuditReader(database: Database): AuditReader {
  return {
    async page(accountId, { before, limit }) {
      const rows = await database.forAccount(accountId).many<AuditRow>(
        `select id, created_at, actor, operation, target_id, before, after, request_id from audit
         where account_id = $1 and ($2::text is null or id < $2) order by id desc limit $3`,
        [accountId, before, limit],
      );
      return rows.map((row) => ({ ...row, created_at: row.created_at.toISOString() }));
    },
  };
}
