import type { Notice } from '@earshot/contract';
import type { Sql } from '../engines/database.ts';
import { newId } from '../runtime/ids.ts';
import { type NoticeData, noticeKinds, type RaisedType } from './notice-kinds.ts';

/*
 * Notices are raised and resolved inside the transaction that they report, so that both are committed or neither.
 *
 * Positions are per account. With positions of the match log, each notice would wait for all match writers. A resolved notice moves to the
 * end of the log, so a follower that is behind gets it once, in its current state.
 *
 * The row of the account's log is locked until the commit. So raise notices last, after locking rules, slots,
 * sources, webhooks and the match log. Each statement locks its accounts in the order of their ids, which prevents
 * deadlocks. Transactions with several statements for different accounts must keep that order too.
 */

export interface NewNotice<Type extends RaisedType> {
  readonly type: Type;
  readonly subject: Notice['subject'];
  /** Distinguishes notices of one type and subject, for example the gap, or a period and a threshold. */
  readonly key?: string;
  readonly data: NoticeData[Type];
  /** Skips accounts that got this notice today (UTC), even if it is resolved. */
  readonly oncePerDay?: boolean;
}

/**
 * Raises a notice for each account that does not have the same one open. A unique index guarantees a single notice,
 * even if several nodes raise it at once. Returns the number of new notices.
 */
export async function raiseNotices<Type extends RaisedType>(
  sql: Sql,
  accountIds: readonly string[],
  { type, subject, key = '', data, oncePerDay = false }: NewNotice<Type>,
): Promise<number> {
  const notified = [...new Set(accountIds)].toSorted();
  if (notified.length === 0) return 0;
  const { severity, isPast = false, whatToDo } = noticeKinds[type];
  return await sql.run(
    `with candidates as (
       select * from unnest($1::text[], $2::text[]) as candidates (account_id, id)
       where not exists (
         select 1 from notices where type = $3 and subject_kind = $5 and subject_id = $6 and key = $8
           and notices.account_id = candidates.account_id
           and (resolved_at is null or $12 and created_at >= date_trunc('day', now(), 'UTC')))
     ), placed as (
       insert into notice_log (account_id, last_position) select account_id, 1 from candidates order by account_id collate "C"
       on conflict (account_id) do update set last_position = notice_log.last_position + 1
       returning account_id, last_position
     )
     insert into notices (id, account_id, position, type, severity, subject_kind, subject_id, subject_name, key, data,
       what_to_do, resolved_at)
     select id, account_id, last_position, $3, $4, $5, $6, $7, $8, $9, $10, case when $11 then clock_timestamp() end
     from candidates join placed using (account_id)
     on conflict do nothing`,
    [
      notified,
      notified.map(() => newId('ntc')),
      type,
      severity,
      subject.kind,
      subject.id,
      subject.name,
      key,
      JSON.stringify(data),
      whatToDo(data),
      isPast,
      oncePerDay,
    ],
  );
}

export interface ResolveFilter {
  readonly types: readonly RaisedType[];
  readonly subject: Pick<Notice['subject'], 'kind' | 'id'>;
  /** Only notices with this key. */
  readonly key?: string;
  /** Only notices of these accounts. */
  readonly accountIds?: readonly string[];
}

/**
 * Resolves open notices whose cause is gone. They get new positions, so that followers receive the change. Returns
 * their accounts.
 */
export async function resolveNotices(
  sql: Sql,
  { types, subject, key, accountIds }: ResolveFilter,
): Promise<string[]> {
  const rows = await sql.many<{ account_id: string }>(
    `with open as (
       select id, account_id, row_number() over (partition by account_id order by position) as nth from notices
       where type = any($1) and subject_kind = $2 and subject_id = $3 and ($4::text is null or key = $4)
         and ($5::text[] is null or account_id = any($5)) and resolved_at is null
     ), locked as materialized (
       select account_id from notice_log where account_id in (select account_id from open)
       order by account_id collate "C" for update
     ), counted as (
       select account_id, count(*) as count from open join locked using (account_id) group by account_id
     ), placed as (
       update notice_log set last_position = last_position + count from counted
       where notice_log.account_id = counted.account_id
       returning notice_log.account_id, last_position - count as before
     )
     update notices set position = before + nth, changed_at = clock_timestamp(), resolved_at = clock_timestamp()
     from open join placed using (account_id)
     where notices.id = open.id and notices.resolved_at is null
     returning notices.account_id`,
    [types, subject.kind, subject.id, key ?? null, accountIds ?? null],
  );
  return [...new Set(rows.map(({ account_id }) => account_id))];
}

const forgetBatch = 5_000;

/**
 * Removes notices older than the match retention, open or not. If a cause still exists, its notice is raised again.
 * If the clock jumped ahead, the newest event is the reference.
 */
export async function forgetNotices(
  sql: Sql,
  { newestDay, retentionDays }: { newestDay: string | null; retentionDays: number },
): Promise<void> {
  const row = await sql.one<{ before: Date }>(
    `select least($1::date + 1, now()) - ($2::integer + 1) * interval '1 day' as before`,
    [newestDay, retentionDays],
  );
  if (row) while ((await forgetSome(sql, row.before)) > 0);
}

async function forgetSome(sql: Sql, before: Date): Promise<number> {
  const rows = await sql.many(
    `with old as (
       select id, account_id from notices where changed_at < $1 order by changed_at limit $2
     ), locked as materialized (
       select account_id from notice_log where account_id in (select account_id from old)
       order by account_id collate "C" for update
     ), gone as (
       delete from notices using old join locked using (account_id)
       where notices.id = old.id and notices.changed_at < $1
       returning notices.account_id, position
     ), noted as (
       update notice_log set removed_through = greatest(removed_through, through)
       from (select account_id, max(position) as through from gone group by account_id) as removed
       where notice_log.account_id = removed.account_id
     )
     select 1 from gone`,
    [before, forgetBatch],
  );
  return rows.length;
}
