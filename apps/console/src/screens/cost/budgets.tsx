import type { Rule } from '@earshot/sdk';
import { Link } from 'wouter';
import { useRules } from '../../api/rules.ts';
import { ErrorNote } from '../../parts/error-note.tsx';
import { formatCount, formatUsd } from '../../parts/format.ts';
import { Loading } from '../../parts/loading.tsx';
import { Time } from '../../parts/time.tsx';
import { type BudgetState, barOf } from './budget-bar.ts';
import styles from './cost.module.css';

const periods = { day: 'per day', month: 'per month', lifetime: 'in total' } as const;

/** The spending of each budget, the most spent first. */
export function Budgets({ ruleId }: { ruleId: string | null }) {
  const { data, error, refetch } = useRules();
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading what="Loading the budgets" />;
  const rules = data.filter(({ id }) => ruleId === null || id === ruleId);
  const budgets = rules
    .flatMap((rule) => {
      const budget = rule.effective_budget;
      return budget ? [{ rule, budget, bar: barOf(budget) }] : [];
    })
    .toSorted((a, b) => b.bar.share - a.bar.share);
  const without = rules.length - budgets.length;
  return (
    <section className={styles.section} aria-labelledby="budgets">
      <h2 id="budgets">Budgets</h2>
      {budgets.length > 0 && (
        <ul className={styles.budgets}>
          {budgets.map(({ rule, budget }) => (
            <BudgetRow key={rule.id} rule={rule} budget={budget} />
          ))}
        </ul>
      )}
      {without > 0 && (
        <p className={styles.quiet}>
          {without === 1 ? '1 rule has' : `${without} rules have`} no budget. To set one, edit the rule.
        </p>
      )}
      {rules.length === 0 && <p className={styles.quiet}>There are no rules yet, so no budget applies.</p>}
    </section>
  );
}

function BudgetRow({ rule, budget }: { rule: Rule; budget: BudgetState }) {
  const { unit, limit, share, level } = barOf(budget);
  // A rate is no whole number of matches.
  const words = (value: number) =>
    unit === 'usd' ? formatUsd(value) : `${formatCount(Math.ceil(value))} matches`;
  const spent = `${words(budget.spent)} of ${words(limit)} ${periods[budget.period]}`;
  return (
    <li className={styles.budget}>
      <Link href={`/rules/${rule.id}`}>{rule.name}</Link>
      <div className={styles.meter} aria-hidden="true">
        <div className={styles[level]} style={{ width: `${share * 100}%` }} />
      </div>
      <div>
        <p>{spent}</p>
        <p className={styles.terms}>
          {words(budget.remaining)} left
          {budget.resets_at !== null && (
            <>
              ; resets <Time at={budget.resets_at} />
            </>
          )}
          . {rule.budget === null && "This is the operator's default. "}
          {stopWords(rule, budget, { limit, words })}
        </p>
      </div>
    </li>
  );
}

function stopWords(
  { pause }: Rule,
  { on_reached, reserved, spent }: BudgetState,
  { limit, words }: { limit: number; words: (amount: number) => string },
): string {
  if (pause?.reason === 'budget')
    return spent >= limit
      ? 'The budget is spent, so the rule is paused.'
      : 'The rule was paused early: a budget of the rule, its key or the account would have been passed before the platforms stop delivering.';
  if (on_reached === 'notify') return 'When the budget is spent, you get a notice and the rule continues.';
  const early =
    reserved > 0 ? ` ${words(reserved)} before, because more arrive until the platforms stop` : '';
  return early === '' ? 'When the budget is spent, the rule is paused.' : `The rule is paused${early}.`;
}
