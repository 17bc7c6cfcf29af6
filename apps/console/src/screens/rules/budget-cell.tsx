import type { Rule } from '@earshot/sdk';
import { formatCount, formatUsd } from '../../parts/format.ts';
import styles from './rules.module.css';

/** The spending of the budget, and a forecast for the end of the period. */
export function BudgetCell({ budget }: { budget: Rule['effective_budget'] }) {
  if (!budget) return <span className={styles.quiet}>none</span>;
  const { usd, matches, spent, forecast, period } = budget;
  const limit = usd ?? matches ?? 0;
  const format = usd === undefined ? formatCount : formatUsd;
  return (
    <div className={styles.budget}>
      <meter min={0} max={limit} high={limit * 0.8} value={Math.min(spent, limit)} aria-label="Spent" />
      <span>
        {format(spent)} of {format(limit)}
        {usd === undefined && ' matches'} {periodWords[period]}
      </span>
      {/* A spent budget needs no forecast. */}
      {forecast !== null && spent < limit && (
        <span className={forecast > limit ? styles.over : styles.quiet}>forecast {format(forecast)}</span>
      )}
    </div>
  );
}

const periodWords = { day: 'per day', month: 'per month', lifetime: 'in total' };
