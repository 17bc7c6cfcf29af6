import type { Notice } from '@earshot/contract';
import type { Database } from '../engines/database.ts';

export interface NoticeQuery {
  readonly accountId: string;
  /** Only unresolved notices. */
  readonly open: boolean;
  readonly order: 'newest' | 'oldest';
  /** Exclusive: continues after this position, in the direction of `order`. */
  readonly from: number | null;
  readonly limit: number;
}

/** A notice with its position in the account's log. */
export interface PlacedNotice {
  readonly position: number;
  readonly notice: Notice;
}

interface NoticeRow extends Omit<Notice, 'subject' | 'created_at' | 'resolved_at'> {
  readonly position: number;
  readonly subject_kind: Notice['subject']['kind'];
  readonly subject_id: string;
  readonly subject_name: string;
  readonly created_at: Date;
  readonly resolved_at: Date | null;
}

export type NoticeReader = ReturnType<typeof createNoticeReader>;

/** Reads the notices of one account. */
export function createNoticeReader(database: Database) {
  return {
    async read({ accountId, open, order, from, limit }: NoticeQuery): Promise<PlacedNotice[]> {
      const [beyond, direction] = order === 'oldest' ? ['>', 'asc'] : ['<', 'desc'];
      const rows = await database.forAccount(accountId).many<NoticeRow>(
        `select id, position, type, severity, subject_kind, subject_id, subject_name, data, what_to_do, created_at,
           resolved_at
         from notices where account_id = $1 and ($2::bigint is null or position ${beyond} $2)
           and (resolved_at is null or not $3)
         order by position ${direction} limit $4`,
        [accountId, from, open, limit],
      );
      return rows.map(toPlacedNotice);
    },
    /** The end of the account's log, and the last position that retention has removed. */
    async ends(accountId: string): Promise<{ last: number; removedThrough: number }> {
      const row = await database
        .forAccount(accountId)
        .one<{ last: number; removedThrough: number }>(
          `select last_position as last, removed_through as "removedThrough" from notice_log where account_id = $1`,
          [accountId],
        );
      return row ?? { last: 0, removedThrough: 0 };
    },
    /** The ends of several accounts' logs. Accounts without notices are absent. */
    async lastPositions(accountIds: readonly string[]): Promise<Map<string, number>> {
      const rows = await database.many<{ account_id: string; last_position: number }>(
        'select account_id, last_position from notice_log where account_id = any($1)',
        [accountIds],
      );
      return new Map(rows.map((row) => [row.account_id, row.last_position]));
    },
  };
}

function toPlacedNotice(row: NoticeRow): PlacedNotice {
  return {
    position: row.position,
    notice: {
      id: row.id,
      type: row.type,
      severity: row.severity,
      subject: { kind: row.subject_kind, id: row.subject_id, name: row.subject_name },
      data: row.data,
      what_to_do: row.what_to_do,
      created_at: row.created_at.toISOString(),
      resolved_at: row.resolved_at?.toISOString() ?? null,
    },
  };
}
