import { isDeepStrictEqual } from 'node:util';
import { type Budget, formatBudget } from '@earshot/contract';
import { byEarshot } from '../accounts/change.ts';
import type { Prices } from '../billing/prices.ts';
import type { Bells } from '../engines/bells.ts';
import type { Database, Sql } from '../engines/database.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import { type LockedRule, lockRule, pauseLocked } from '../rules/rule-changes.sql.ts';
import type { PauseReason } from '../rules/rule-rows.sql.ts';
import { decide, earlyResumeAt, isWorthResuming, type Standing } from './budget.ts';
import {
  type BudgetNotice,
  type BudgetNoticeType,
  earlyKey,
  isEndedMark,
  markKey,
  notifyOnce,
  readStanding,
  resolveEnded,
  resolveReplaced,
  type Subject,
  type WatchedRule,
  wasReached,
  wasReachedBefore,
  watchedRules,
} from './budgets.sql.ts';

/*
 * Checks the budgets of rules that matched since the last check, and of rules with a due `budget_check_at`. Every node with the role
 * `match` does so independently: a row in `budget_marks` decides that a notice is raised once, and a paused rule is skipped. A node
 * remembers only how far in the match log it has checked. A node that starts checks everything that matched lately.
 */

export interface WatchBudgetsOptions {
  readonly database: Database;
  readonly bells: Bells;
  readonly telemetry: Telemetry;
  readonly prices: Prices;
  /** Applies to rules without their own budget; null disables it. */
  readonly ruleBudget: Budget | null;
  readonly now: () => Date;
}

const rulesAtOnce = 500;
const notifiedMax = 100_000;

export function createBudgetWatch(options: WatchBudgetsOptions): () => Promise<void> {
  const { database } = options;
  let checkedThrough: number | null = null;
  /** Rules that cannot be paused because a change is in progress. */
  let unfinished: readonly string[] = [];
  const notified = new Set<string>();
  return async () => {
    const { last, hasDue, hasEnded } = await readWork(database);
    const matched =
      checkedThrough === null
        ? await matchedLately(database)
        : await matchedIn(database, checkedThrough, last);
    const due = hasDue ? await dueRules(database) : [];
    const ruleIds = [...new Set([...matched, ...due, ...unfinished])];
    const left: string[] = [];
    for (let from = 0; from < ruleIds.length; from += rulesAtOnce)
      left.push(
        ...(await checkBudgets(options, ruleIds.slice(from, from + rulesAtOnce), new Set(due), notified)),
      );
    await setChecked(database, due);
    if (hasEnded) await database.transaction(resolveEnded);
    // After a failure, everything is checked again.
    [checkedThrough, unfinished] = [last, left];
    if (notified.size > notifiedMax) notified.clear();
  };
}

interface BudgetWork {
  /** The last position of the match log. */
  readonly last: number;
  readonly hasDue: boolean;
  readonly hasEnded: boolean;
}

const isListening = `state in ('active', 'failed')`;
const isDue = `budget_check_at <= now() and ${isListening}`;

/** Whether there is anything to do. One statement, because usually there is nothing. */
async function readWork(sql: Sql): Promise<BudgetWork> {
  const [found] = await sql.prepared<BudgetWork>(
    `select coalesce((select last_position from match_log), 0) as last,
       exists (select 1 from rules where ${isDue}) as "hasDue",
       exists (select 1 from budget_marks where ${isEndedMark}) as "hasEnded"`,
    [],
  );
  return found ?? { last: 0, hasDue: false, hasEnded: false };
}

/** Positions become visible in order, so none appears behind a position that was read. */
async function matchedIn(sql: Sql, after: number, through: number): Promise<string[]> {
  if (through <= after) return [];
  const rows = await sql.many<{ rule_id: string }>(
    'select distinct rule_id from matches where position > $1 and position <= $2',
    [after, through],
  );
  return rows.map(({ rule_id }) => rule_id);
}

async function matchedLately(sql: Sql): Promise<string[]> {
  const rows = await sql.many<{ rule_id: string }>(
    `select distinct rule_id from usage where last_match_at > now() - interval '2 days'`,
  );
  return rows.map(({ rule_id }) => rule_id);
}

async function dueRules(sql: Sql): Promise<string[]> {
  const rows = await sql.many<{ id: string }>(`select id from rules where ${isDue} limit $1`, [rulesAtOnce]);
  return rows.map(({ id }) => id);
}

/** Not if a budget was changed in the meantime. A slower node checks the rules again and finds nothing to do. */
async function setChecked(sql: Sql, ruleIds: readonly string[]): Promise<void> {
  if (ruleIds.length === 0) return;
  await sql.run(
    `update rules set budget_check_at = null
     where id = any($1) and budget_check_at < now() - interval '2 seconds' and ${isListening}`,
    [ruleIds],
  );
}

/** Returns the rules that could not be paused yet. */
async function checkBudgets(
  options: WatchBudgetsOptions,
  ruleIds: readonly string[],
  due: ReadonlySet<string>,
  notified: Set<string>,
): Promise<string[]> {
  const { database, ruleBudget } = options;
  const rules = await watchedRules(database, ruleIds, ruleBudget);
  const left: string[] = [];
  for (const [subject, spenders] of bySubject(rules)) {
    const now = options.now();
    const standing = await readStanding(database, subject, { ...options, now });
    // Without a pause, what still arrives needs no room in the budget.
    const isPausing = subject.budget.on_reached === 'pause';
    const { isReached, passed, forecastAt } = decide(
      isPausing ? standing : { ...standing, reserved: 0 },
      now,
    );
    const key = markKey(subject, standing);
    if (spenders.some(({ id }) => due.has(id)))
      await database.transaction((sql) => resolveReplaced(sql, subject, key));
    const facts = factsOf(subject, standing);
    const endsAt = standing.period.end;
    const notify = createNotifier(options, subject, notified);
    for (const percent of passed)
      await notify({
        type: 'budget.threshold',
        key: `${key} ${percent}`,
        endsAt,
        data: { ...facts, percent },
      });
    if (forecastAt && !isReached)
      await notify({
        type: 'budget.forecast',
        key,
        endsAt,
        data: { ...facts, reached_at: forecastAt.toISOString() },
      });
    if (isReached) left.push(...(await reach(options, subject, standing)));
  }
  return left;
}

/** Each budget once, with the rules that spend it. */
function bySubject(rules: readonly WatchedRule[]): Map<Subject, WatchedRule[]> {
  const named = new Map<string, Subject>();
  const spenders = new Map<Subject, WatchedRule[]>();
  for (const rule of rules)
    for (const one of rule.subjects) {
      const name = `${one.kind} ${one.id}`;
      const subject = named.get(name) ?? one;
      named.set(name, subject);
      spenders.set(subject, [...(spenders.get(subject) ?? []), rule]);
    }
  return spenders;
}

function factsOf({ budget }: Subject, { cap, spent, reserved, period }: Standing) {
  const resetsAt = period.end?.toISOString() ?? null;
  return { budget: formatBudget(budget), limit: cap, spent, reserved, resets_at: resetsAt };
}

/** Remembers which notices exist, so that this node does not query the database for them again. */
function createNotifier({ database, bells }: WatchBudgetsOptions, subject: Subject, notified: Set<string>) {
  return async <Type extends BudgetNoticeType>(notice: BudgetNotice<Type>): Promise<void> => {
    const name = `${subject.kind} ${subject.id} ${notice.type} ${notice.key}`;
    if (notified.has(name)) return;
    if (await database.transaction((sql) => notifyOnce(sql, subject, notice))) bells.ring('notices');
    notified.add(name);
  };
}

/** Returns the rules that could not be paused yet. */
async function reach(
  options: WatchBudgetsOptions,
  subject: Subject,
  standing: Standing,
): Promise<readonly string[]> {
  const { database, bells } = options;
  const left: string[] = [];
  for (const ruleId of await rulesOf(database, subject))
    if (!(await stop(options, ruleId, subject, standing))) left.push(ruleId);
  const notice = reached(subject, standing, {
    key: markKey(subject, standing),
    resumesAt: subject.budget.on_reached === 'pause' ? standing.period.end : null,
  });
  if (subject.kind !== 'rule') await database.transaction((sql) => notifyOnce(sql, subject, notice));
  bells.ring('slots');
  bells.ring('notices');
  return left;
}

/** The rules of a budget that listen. */
async function rulesOf(sql: Sql, { kind, id }: Subject): Promise<string[]> {
  const which = {
    rule: 'id = $1',
    key: 'created_by in (select api_keys.id from api_keys where spends_from = $1)',
    account: 'account_id = $1',
  }[kind];
  const rows = await sql.many<{ id: string }>(
    `select id from rules where ${which} and ${isListening} order by id`,
    [id],
  );
  return rows.map((row) => row.id);
}

/** `resumesAt` is null if the rules do not resume automatically, or continue. */
function reached(
  subject: Subject,
  standing: Standing,
  { key, resumesAt, isTrial = false }: Pick<BudgetPause, 'key' | 'resumesAt'> & { isTrial?: boolean },
): BudgetNotice<'budget.reached'> {
  const { on_reached } = subject.budget;
  return {
    type: 'budget.reached',
    key,
    // The notice of a rule that stays paused is resolved when the rule resumes.
    endsAt: on_reached === 'pause' ? resumesAt : standing.period.end,
    data: {
      ...factsOf(subject, standing),
      on_reached,
      resumes_at: resumesAt?.toISOString() ?? null,
      ...(isTrial && { trial: true as const }),
    },
  };
}

/**
 * Runs under the rule's lock, and raises the notice of the budget. The rule leaves its slots at once, so nothing more is stored for it.
 * Upstream rules stay while other rules hold them. False if a change of the rule is in progress.
 */
async function stop(
  { database, telemetry, prices, ruleBudget, now }: WatchBudgetsOptions,
  ruleId: string,
  subject: Subject,
  standing: Standing,
): Promise<boolean> {
  return await database.transaction(async (sql) => {
    const rule = await lockRule(sql, ruleId);
    if (!rule || rule.state === 'paused') return true;
    const isOwn = subject.kind === 'rule';
    // The budget was changed in the meantime: it is checked again.
    if (isOwn && !isDeepStrictEqual(rule.budget ?? ruleBudget, subject.budget)) return true;
    if (subject.budget.on_reached === 'notify') {
      const key = markKey(subject, standing);
      if (isOwn) await notifyOnce(sql, subject, reached(subject, standing, { key, resumesAt: null }));
      return true;
    }
    if (rule.changing_to !== null) return false;
    const pause = isOwn
      ? await ownPause(sql, rule, { subject, standing, now: now() })
      : { key: markKey(subject, standing), reason: 'budget' as const, resumesAt: standing.period.end };
    await pauseLocked(sql, rule, byEarshot(rule.account_id, 'StopForBudget'), {
      pricing: { prices, ruleBudget },
      until: pause,
    });
    telemetry.ruleChanged({ ruleId, accountId: rule.account_id, change: 'stopped' });
    if (isOwn)
      await notifyOnce(sql, subject, reached(subject, standing, { ...pause, isTrial: rule.is_trial }));
    return true;
  });
}

interface BudgetPause {
  /** The key of the mark and the notice. */
  readonly key: string;
  readonly reason: PauseReason;
  /** Null: the rule stays paused. */
  readonly resumesAt: Date | null;
}

/**
 * The first pause of a period is short if money is left: a pause comes early, because the platforms keep delivering. The second one lasts
 * until the next period, or until a caller acts if the operator's default budget also paused the rule in an earlier period. The rule's
 * lock makes the marks decide once.
 */
async function ownPause(
  sql: Sql,
  { budget, is_trial }: LockedRule,
  { subject, standing, now }: { subject: Subject; standing: Standing; now: Date },
): Promise<BudgetPause> {
  const key = markKey(subject, standing);
  const early = earlyKey(key);
  if (!is_trial && isWorthResuming(standing) && !(await wasReached(sql, subject, early)))
    return { key: early, reason: 'budget', resumesAt: earlyResumeAt(standing, now) };
  if (budget === null && (await wasReachedBefore(sql, subject, standing)))
    return { key, reason: 'default_budget', resumesAt: null };
  return { key, reason: 'budget', resumesAt: standing.period.end };
}
