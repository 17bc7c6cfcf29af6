import type { AuditEntry } from '@earshot/contract';
import type { Cursors } from '../runtime/cursor.ts';
import type { Handler } from './call.ts';

export interface AuditReader {
  /** Newest first, below the given id. */
  page(accountId: string, page: { before: string | null; limit: number }): Promise<AuditEntry[]>;
}

export function listAudit({
  reader,
  cursors,
}: {
  reader: AuditReader;
  cursors: Cursors;
}): Handler<'ListAudit'> {
  return async ({ principal: { accountId }, request: { limit, cursor } }) => {
    const scope = { accountId, filter: ['audit'] };
    const before = cursor === undefined ? null : cursors.open(scope, cursor);
    const entries = await reader.page(accountId, { before, limit });
    const last = entries.at(-1);
    const more = entries.length === limit && last !== undefined;
    return { entries, next_cursor: more ? cursors.seal(scope, last.id) : null };
  };
}
