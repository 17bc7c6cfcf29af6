import type { Standing } from '../metering/budget-standing.ts';

/*
 * A guard beside the budgets: a rule that suddenly brings far more than usual is told of within minutes, and stopped when a budget
 * would be gone before anybody can act.
 */

/** Matches of a rule per minute. */
export interface RuleRate {
  readonly latest: number;
  /** In the minute before. */
  readonly before: number;
  /** At this time of the day, on the days before; null when the rule is too young to say. */
  readonly usual: number | null;
}

/** So few are no burst, whatever is usual. */
export const burstFrom = 20;
const timesUsual = 6;
const lastsMinutesMin = 30;

/** A budget that pauses what spends it. */
export type Spending = Pick<Standing, 'cap' | 'spent' | 'perMinute'>;

/** What the rate of a rule calls for, with the budgets that it spends. Of a young rule only what threatens a budget counts. Pure. */
export function judgeRate(rate: RuleRate, spendings: readonly Spending[]): 'calm' | 'tell' | 'pause' {
  const threshold = Math.max(burstFrom, timesUsual * (rate.usual ?? 0));
  if (rate.latest <= threshold || rate.before <= threshold) return 'calm';
  if (spendings.some(isGoneSoon)) return 'pause';
  return rate.usual === null ? 'calm' : 'tell';
}

function isGoneSoon({ cap, spent, perMinute }: Spending): boolean {
  return cap - spent < perMinute * lastsMinutesMin;
}
