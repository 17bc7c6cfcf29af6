import { byEarshot, byOperator } from '../accounts/change.ts';
import { allowedColumns, ofPlan, type PlanAndLimits } from '../accounts/plans.ts';
import type { Sql } from '../engines/database.ts';
import { type ChangeRuleOptions, changeRule } from '../rules/change-rule.ts';
import { beginResume } from '../rules/resume-rule.ts';
import type { PauseReason } from '../rules/rule-rows.sql.ts';
import { createConcurrencyLimit } from '../runtime/concurrency.ts';
import { Failure } from '../runtime/failure.ts';
import { decide } from './budget.ts';
import { markKey, readStanding, resolveReplaced, wasReached, watchedRules } from './budgets.sql.ts';

export interface ResumeAfterBudgetOptions extends ChangeRuleOptions {
  readonly now: () => Date;
}

interface DueRule extends PlanAndLimits {
  readonly id: string;
  readonly account_id: string;
  readonly pause_reason: PauseReason;
  readonly read_at: Date;
}

const dueMax = 100;
/** A resume waits for the upstreams, and resumes that wait at the same time share a call. */
const resumesAtOnce = 20;
const tryAgainMs = 30_000;

/** SQL: a rule that the default budget stopped again needs its own budget to resume automatically. */
const isDueAt = (time: string) => `(pause_reason = 'budget' and budget_check_at <= ${time}
  or pause_reason = 'default_budget' and rules.budget is not null and budget_check_at <= ${time}
  or pause_reason = 'suspension' and coalesce(budget_check_at, ${time}) <= ${time})`;

/**
 * Resumes rules that were paused for a budget or with their account, once no budget holds them back: the next period has begun,
 * a budget was raised, or the pause was the first early one of the period. Any number of nodes may try: a rule takes one change at a time.
 */
export async function resumeAfterBudget(options: ResumeAfterBudgetOptions): Promise<void> {
  const due = await options.database.prepared<DueRule>(
    `select rules.id, rules.account_id, pause_reason, ${allowedColumns}, now() as read_at
     from rules join accounts on accounts.id = rules.account_id join ${ofPlan}
     where state = 'paused' and suspended_at is null and changing_to is null
       and ${isDueAt('now()')}
       and (expires_at is null or expires_at > now())
     order by budget_check_at nulls first limit ${dueMax}`,
    [],
  );
  const limited = createConcurrencyLimit(resumesAtOnce);
  await Promise.all(due.map((rule) => limited(() => resume(options, rule))));
}

async function resume(options: ResumeAfterBudgetOptions, due: DueRule): Promise<void> {
  const { database, telemetry } = options;
  const { id: ruleId, account_id: accountId } = due;
  const holding = await heldBackUntil(options, ruleId);
  if (holding !== 'free') return await postpone(database, due, { until: holding, pauseReason: 'budget' });
  const premiumRulesMax = due.limits.rules;
  const begin = () => beginResume(database, { accountId, ruleId, premiumRulesMax });
  const requested =
    due.pause_reason === 'suspension'
      ? byOperator(accountId, 'ResumeAccount')
      : byEarshot(accountId, 'ResumeRule');
  try {
    await changeRule(options, { accountId, ruleId, premiumRulesMax, requested, begin });
    telemetry.ruleChanged({ ruleId, accountId, change: 'resumed' });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const waitMs = Math.max(tryAgainMs, (error.retryAfterSeconds ?? 0) * 1_000);
    const until = new Date(options.now().getTime() + waitMs);
    await postpone(database, due, { until, pauseReason: due.pause_reason });
  }
}

/** Returns when the last of its reached budgets resets; null for never. Resolves notices of replaced budgets. */
async function heldBackUntil(
  { database, pricing: { prices, ruleBudget }, now }: ResumeAfterBudgetOptions,
  ruleId: string,
): Promise<Date | null | 'free'> {
  const [rule] = await watchedRules(database, [ruleId], ruleBudget);
  const ends: (Date | null)[] = [];
  const own = rule?.subjects.find(({ kind }) => kind === 'rule');
  if (!own) await database.transaction((sql) => resolveReplaced(sql, { kind: 'rule', id: ruleId }, null));
  for (const subject of rule?.subjects ?? []) {
    const at = now();
    const standing = await readStanding(database, subject, { prices, now: at });
    const key = markKey(subject, standing);
    await database.transaction((sql) => resolveReplaced(sql, subject, key));
    if (subject.budget.on_reached !== 'pause') continue;
    if (decide(standing, at).isReached || (await wasReached(database, subject, key)))
      ends.push(standing.period.end);
  }
  if (ends.length === 0) return 'free';
  if (ends.includes(null)) return null;
  return new Date(Math.max(...ends.map((end) => end?.getTime() ?? 0)));
}

/** Does nothing if a budget was changed since the rule was read, or another node has handled the rule. */
async function postpone(
  sql: Sql,
  { id, read_at }: DueRule,
  { until, pauseReason }: { until: Date | null; pauseReason: DueRule['pause_reason'] },
): Promise<void> {
  await sql.run(
    `update rules set budget_check_at = $2, pause_reason = $4
     where id = $1 and state = 'paused'
       and ${isDueAt('$3')}`,
    [id, until, read_at, pauseReason],
  );
}
