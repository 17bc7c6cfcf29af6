import type { AnswerOf, AuditEntry, RequestOf } from '@earshot/contract';
import type { Principal } from '../accounts/principal.ts';
import type { Cursors } from '../readers/cursor.ts';

export interface AuditReader {
  /** Newest first, below the given id. */
  page(accountId: string, page: { before: string | null; limit: number }): Promise<AuditEntry[]>;
}

export function createListAudit({ reader, cursors }: { reader: AuditReader; cursors: Cursors }) {
  return async (
    { accountId }: Principal,
    { limit, cursor }: RequestOf<'ListAudit'>,
  ): Promise<AnswerOf<'ListAudit'>> => {
    const scope = { accountId, filter: ['audit'] };
    const before = cursor === undefined ? null : cursors.open(scope, cursor);
    const entries = await reader.page(accountId, { before, limit });
    const last = entries.at(-1);
    const more = entries.length === limit && last !== undefined;
    return { entries, next_cursor: more ? cursors.seal(scope, last.id) : null };
  };
}
