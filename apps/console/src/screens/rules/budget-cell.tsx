import type { Rule } from '@earshot/sdk';
import { formatCount, formatUsd } from '../../parts/format.ts';
import { forecast } from './budget-forecast.ts';
import styles from './rules.module.css';

/** The spending of the budget, and a forecast for the end of the period. */
export function BudgetCell({ budget, now }: { budget: Rule['effective_budget']; now: Date }) {
  if (!budget) return <span className={styles.quiet}>none</span>;
  const { amount, spent, expected } = forecast(budget, now);
  const format = budget.usd === undefined ? formatCount : formatUsd;
  const isOver = expected !== null && expected > amount;
  return (
    <div className={styles.budget}>
      <meter min={0} max={amount} high={amount * 0.8} value={Math.min(spent, amount)} aria-label="Spent" />
      <span>
        {format(spent)} of {format(amount)}
        {budget.usd === undefined && ' matches'} {periodWords[budget.period]}
      </span>
      {/* A spent budget needs no forecast. */}
      {expected !== null && spent < amount && (
        <span className={isOver ? styles.over : styles.quiet}>forecast {format(expected)}</span>
      )}
    </div>
  );
}

const periodWords = { day: 'per day', month: 'per month', lifetime: 'in total' };
