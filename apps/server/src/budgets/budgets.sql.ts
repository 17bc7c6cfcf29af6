import { type Budget, formatBudget } from '@earshot/contract';
import type { Prices } from '../billing/prices.ts';
import { listeningSince, recentMatches, sums } from '../billing/spending.sql.ts';
import { type CountedSpending, periodAt } from '../billing/spending.ts';
import type { Sql } from '../engines/database.ts';
import type { NoticeData } from '../notices/notice-kinds.ts';
import { raiseNotices, resolveNotices } from '../notices/notice-log.sql.ts';
import { type Standing, standingOf } from './budget.ts';

/** The owner of a budget: a rule, all rules that a key created, or all rules of an account. */
export interface Subject {
  readonly kind: 'rule' | 'key' | 'account';
  readonly id: string;
  readonly name: string;
  readonly accountId: string;
  readonly budget: Budget;
}

/** A rule with all budgets that it spends. */
export interface WatchedRule {
  readonly id: string;
  readonly accountId: string;
  readonly subjects: readonly Subject[];
}

interface RuleRow {
  id: string;
  account_id: string;
  name: string;
  budget: Budget | null;
  key_id: string | null;
  key_name: string;
  key_budget: Budget | null;
  account_name: string;
  account_budget: Budget | null;
}

/** The rules among the given ids that exist. `fallback` applies to rules without their own budget. */
export async function watchedRules(
  sql: Sql,
  ruleIds: readonly string[],
  fallback: Budget | null,
): Promise<WatchedRule[]> {
  const rows = await sql.many<RuleRow>(
    `select rules.id, rules.account_id, rules.name, rules.budget, spender.id as key_id, spender.display as key_name,
       spender.budget as key_budget, accounts.name as account_name, accounts.budget as account_budget
     from rules join accounts on accounts.id = rules.account_id
     left join api_keys creator on creator.id = rules.created_by
     left join api_keys spender on spender.id = creator.spends_from
     where rules.id = any($1) and rules.state in ('active', 'failed', 'paused')`,
    [ruleIds],
  );
  return rows.map((row) => ({ id: row.id, accountId: row.account_id, subjects: subjectsOf(row, fallback) }));
}

/** The budgets of a rule, seen by the key that creates or changes it. */
export interface Spending {
  /** The budget of the calling key, if the rule does not spend it. */
  readonly otherBudget: Budget | null;
  /** The rule's own budget before the change; null for a rule that is being created. */
  readonly formerBudget: Budget | null;
  /** Every budget that the rule spends after the change. */
  readonly subjects: readonly Subject[];
}

/** `ruleId` is null for a rule that is being created; `budget` is undefined if it does not change. */
export async function readSpending(
  sql: Sql,
  {
    accountId,
    keyId,
    ruleId,
    budget,
  }: { accountId: string; keyId: string; ruleId: string | null; budget?: Budget | null | undefined },
  fallback: Budget | null,
): Promise<Spending> {
  const [row] = await sql.prepared<Omit<RuleRow, 'id' | 'account_id'> & { other_budget: Budget | null }>(
    `select coalesce(rules.name, '') as name, rules.budget, other.budget as other_budget, spender.id as key_id,
       spender.display as key_name, spender.budget as key_budget, accounts.name as account_name, accounts.budget as account_budget
     from accounts left join api_keys calling_key on calling_key.id = $2
     left join rules on rules.id = $3 and rules.account_id = accounts.id
     left join api_keys creator on creator.id = case when $3::text is null then $2 else rules.created_by end
     left join api_keys spender on spender.id = creator.spends_from
     left join api_keys other on other.id = calling_key.spends_from and other.id is distinct from spender.id
     where accounts.id = $1`,
    [accountId, keyId, ruleId],
  );
  if (!row) return { otherBudget: null, formerBudget: null, subjects: [] };
  const { other_budget: otherBudget, ...rule } = row;
  const after = { ...rule, id: ruleId ?? '', account_id: accountId, ...(budget !== undefined && { budget }) };
  return {
    otherBudget,
    formerBudget: rule.budget,
    subjects: subjectsOf(after, fallback),
  };
}

function subjectsOf(row: RuleRow, fallback: Budget | null): Subject[] {
  const { account_id: accountId } = row;
  const subject = (kind: Subject['kind'], id: string | null, name: string, budget: Budget | null) =>
    id === null || budget === null ? [] : [{ kind, id, name, accountId, budget }];
  return [
    ...subject('rule', row.id, row.name, row.budget ?? fallback),
    ...subject('key', row.key_id, row.key_name, row.key_budget),
    ...subject('account', accountId, row.account_name, row.account_budget),
  ];
}

const counted = `usage.platform, ${sums.map(({ name, sum }) => `${sum} as ${name}`).join(', ')}`;

/** `since` is when the first of the rules began, as far as it is cheap to read. */
const countSpent: Readonly<Record<Subject['kind'], string>> = {
  rule: `select ${counted}, ${recentMatches('matches.rule_id = $1 and matches.platform = usage.platform')} as recent_matches,
      ${listeningSince('$1', '$2::date')} as since
    from usage where rule_id = $1 and day >= $2::date group by platform`,
  // The audit has every creation, also of deleted rules.
  key: `with made as materialized (
      select target_id as rule_id from audit
      where operation = 'CreateRule' and actor in (select id from api_keys where spends_from = $1)
    )
    select ${counted}, ${recentMatches('matches.rule_id in (select rule_id from made) and matches.platform = usage.platform')}
      as recent_matches, (select created_at from rules where id in (select rule_id from made) order by id limit 1) as since
    from usage where rule_id in (select rule_id from made) and day >= $2::date group by platform`,
  account: `select ${counted}, ${recentMatches('matches.account_id = $1 and matches.platform = usage.platform')} as recent_matches,
      (select created_at from rules where account_id = $1 order by id limit 1) as since
    from usage where account_id = $1 and day >= $2::date group by platform`,
};

export async function readStanding(
  sql: Sql,
  { kind, id, budget }: Subject,
  { prices, now }: { prices: Prices; now: Date },
): Promise<Standing> {
  const { start } = periodAt(budget.period, now);
  const firstDay = budget.period === 'lifetime' ? '-infinity' : dayOf(start);
  const rows = await sql.prepared<CountedSpending & { since: Date | null }>(countSpent[kind], [id, firstDay]);
  return standingOf(budget, rows, { prices, now, since: rows[0]?.since ?? null });
}

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}

/** Identifies a budget and its period. A changed amount is a new budget, and its notices are raised again. */
export function markKey({ budget }: Subject, { period }: Standing): string {
  return `${formatBudget(budget)} ${dayOf(period.start)}`;
}

export type BudgetNoticeType = 'budget.threshold' | 'budget.reached' | 'budget.forecast';

export interface BudgetNotice<Type extends BudgetNoticeType> {
  readonly type: Type;
  readonly key: string;
  readonly endsAt: Date | null;
  readonly data: NoticeData[Type];
}

/** Raises a notice once per key, whichever node is first: a row in the same transaction decides. */
export async function notifyOnce<Type extends BudgetNoticeType>(
  sql: Sql,
  { kind, id, name, accountId }: Subject,
  { type, key, endsAt, data }: BudgetNotice<Type>,
): Promise<boolean> {
  const isFirst = await sql.run(
    `insert into budget_marks (account_id, subject_kind, subject_id, type, key, ends_at)
     values ($1, $2, $3, $4, $5, $6) on conflict do nothing`,
    [accountId, kind, id, type, key, endsAt],
  );
  if (isFirst === 0) return false;
  await raiseNotices(sql, [accountId], { type, subject: { kind, id, name }, key, data });
  return true;
}

/** Whether the budget was reported as reached. In its period it stays reached even if the rate falls. */
export async function wasReached(sql: Sql, { kind, id }: Subject, key: string): Promise<boolean> {
  const row = await sql.one(
    `select 1 from budget_marks
     where subject_kind = $1 and subject_id = $2 and type = 'budget.reached' and key = $3`,
    [kind, id, key],
  );
  return row !== null;
}

/** The key of the mark and notice of an early pause, after which a rule resumes in the same period. */
export const earlyKey = (key: string) => `${key} early`;

/** Whether the same budget was reached in another period. */
export async function wasReachedBefore(sql: Sql, subject: Subject, standing: Standing): Promise<boolean> {
  const row = await sql.one(
    `select 1 from budget_marks
     where subject_kind = $1 and subject_id = $2 and type = 'budget.reached' and key <> $4
       and starts_with(key, $3) and key not like '${earlyKey('%')}' limit 1`,
    [subject.kind, subject.id, `${formatBudget(subject.budget)} `, markKey(subject, standing)],
  );
  return row !== null;
}

interface MarkRow {
  account_id: string;
  subject_kind: Subject['kind'];
  subject_id: string;
  type: BudgetNoticeType;
  key: string;
}

const markColumns = 'account_id, subject_kind, subject_id, type, key';
const endedMax = 100;
/** SQL: whether the period of a mark is over and its notice is not resolved. */
export const isEndedMark = 'resolved_at is null and ends_at <= now()';

/** Resolves the notices of periods that are over. Returns how many. */
export async function resolveEnded(sql: Sql): Promise<number> {
  const marks = await sql.many<MarkRow>(
    `update budget_marks set resolved_at = now() where (subject_kind, subject_id, type, key) in (
       select subject_kind, subject_id, type, key from budget_marks
       where ${isEndedMark} order by ends_at limit $1 for update skip locked)
     returning ${markColumns}`,
    [endedMax],
  );
  await resolveMarks(sql, marks);
  return marks.length;
}

/** Resolves the notices of other budgets than the present one; `key` is null if there is no budget any more. */
export async function resolveReplaced(
  sql: Sql,
  { kind, id }: Pick<Subject, 'kind' | 'id'>,
  key: string | null,
): Promise<void> {
  const marks = await sql.many<MarkRow>(
    `update budget_marks set resolved_at = now()
     where subject_kind = $1 and subject_id = $2 and resolved_at is null and not starts_with(key, coalesce($3, '-'))
     returning ${markColumns}`,
    [kind, id, key],
  );
  await resolveMarks(sql, marks);
}

/** In the order in which the notice logs of accounts are locked. */
async function resolveMarks(sql: Sql, marks: readonly MarkRow[]): Promise<void> {
  for (const mark of marks.toSorted((a, b) => (a.account_id < b.account_id ? -1 : 1)))
    await resolveNotices(sql, {
      types: [mark.type],
      subject: { kind: mark.subject_kind, id: mark.subject_id },
      key: mark.key,
      accountIds: [mark.account_id],
    });
}

const marksKeptDays = 400;

export async function forgetMarks(sql: Sql): Promise<void> {
  await sql.run(`delete from budget_marks where ends_at < now() - $1 * interval '1 day'`, [marksKeptDays]);
}
