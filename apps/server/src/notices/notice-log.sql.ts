import type { Notice } from '@earshot/contract';
import type { Sql } from '../engines/database.ts';
import { newId } from '../runtime/ids.ts';
import { type NoticeData, noticeKinds, type RaisedType } from './notice-kinds.ts';

/*
 * Raising and resolving, always inside the transaction of what is told: both are committed, or neither.
 *
 * The row of the account's log is locked from here to the commit. So notices come last in a transaction, behind the locks of rules,
 * slots, sources, webhooks and the match log, and the accounts of one statement are locked in the order of their ids: then two
 * transactions never wait for each other. One that raises for different accounts in several statements must keep that order too.
 */

export interface NewNotice<Type extends RaisedType> {
  readonly type: Type;
  readonly subject: Notice['subject'];
  /** Tells notices of one type and subject apart: the gap, or a period and a threshold. */
  readonly key?: string;
  readonly data: NoticeData[Type];
  /** An account that was told today (UTC) is not told again, although it is over. */
  readonly oncePerDay?: boolean;
}

/**
 * Tells each of the accounts, unless it has the same notice open already: a unique index decides, so that it is told once
 * whoever else finds out at the same time. Returns how many were told.
 */
export async function raiseNotices<Type extends RaisedType>(
  sql: Sql,
  accountIds: readonly string[],
  { type, subject, key = '', data, oncePerDay = false }: NewNotice<Type>,
): Promise<number> {
  const told = [...new Set(accountIds)].toSorted();
  if (told.length === 0) return 0;
  const { severity, isPast = false, whatToDo } = noticeKinds[type];
  return await sql.run(
    `with asked as (
       select * from unnest($1::text[], $2::text[]) as asked (account_id, id)
       where not exists (
         select 1 from notices where type = $3 and subject_kind = $5 and subject_id = $6 and key = $8
           and notices.account_id = asked.account_id
           and (resolved_at is null or $12 and created_at >= date_trunc('day', now(), 'UTC')))
     ), placed as (
       insert into notice_log (account_id, last_position) select account_id, 1 from asked order by account_id collate "C"
       on conflict (account_id) do update set last_position = notice_log.last_position + 1
       returning account_id, last_position
     )
     insert into notices (id, account_id, position, type, severity, subject_kind, subject_id, subject_name, key, data,
       what_to_do, resolved_at)
     select id, account_id, last_position, $3, $4, $5, $6, $7, $8, $9, $10, case when $11 then clock_timestamp() end
     from asked join placed using (account_id)
     on conflict do nothing`,
    [
      told,
      told.map(() => newId('ntc')),
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

export interface Resolving {
  readonly types: readonly RaisedType[];
  readonly subject: Pick<Notice['subject'], 'kind' | 'id'>;
  /** Only the notices with this key. */
  readonly key?: string;
  /** Only of these accounts. */
  readonly accountIds?: readonly string[];
}

/** What was told no longer holds: the open notices get new positions, so that followers see it. Returns whose they were. */
export async function resolveNotices(
  sql: Sql,
  { types, subject, key, accountIds }: Resolving,
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
 * Removes what is older than matches may become, open or not: what still holds is raised again. Counted from the day of the newest
 * event when the clock is ahead of it, because the clock may jump.
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
