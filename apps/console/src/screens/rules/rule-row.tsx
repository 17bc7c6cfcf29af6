import type { Rule } from '@earshot/sdk';
import { useState } from 'react';
import { Link } from 'wouter';
import { ErrorNote } from '../../parts/error-note.tsx';
import { formatCount, formatTime, formatUsdRange } from '../../parts/format.ts';
import { platformNames } from '../../parts/platforms.ts';
import { Time } from '../../parts/time.tsx';
import { reasonWords } from '../coverage/words.ts';
import { BudgetCell } from './budget-cell.tsx';
import { CoverageStrip } from './coverage-strip.tsx';
import { RuleActions } from './rule-actions.tsx';
import styles from './rules.module.css';
import { Sparkline } from './sparkline.tsx';
import type { RuleCost, RuleFigures } from './use-rule-figures.ts';

/** The number of columns of the table. */
const columns = 8;

interface RuleRowProps {
  readonly rule: Rule;
  readonly figures: RuleFigures | undefined;
  readonly cost: RuleCost | undefined;
}

export function RuleRow({ rule, figures, cost }: RuleRowProps) {
  const lastMatch = Object.values(rule.platforms)
    .flatMap((platform) => platform?.last_match_at ?? [])
    .toSorted()
    .at(-1);
  const [error, setError] = useState<Error | null>(null);
  return (
    <>
      <tr>
        <th scope="row" className={styles.name}>
          <Link href={`/rules/${rule.id}`} data-rule>
            {rule.name}
          </Link>
          <span className={styles.state} data-state={rule.state}>
            {stateWords(rule)}
          </span>
        </th>
        <td className={styles.wide}>
          <Sparkline counts={figures?.week} />
        </td>
        <td className={styles.number}>
          <Link href={`/feed?rule=${rule.id}`}>{figures ? formatCount(figures.day) : '–'}</Link>
        </td>
        <td className={styles.number}>{formatUsdRange(cost ?? { min: 0, max: 0 })}</td>
        <td>
          <BudgetCell budget={rule.effective_budget} />
        </td>
        <td>
          <CoverageStrip rule={rule} />
        </td>
        <td className={styles.wide}>{lastMatch === undefined ? 'none yet' : <Time at={lastMatch} />}</td>
        <td>
          <RuleActions rule={rule} onError={setError} />
        </td>
      </tr>
      {error && (
        <tr>
          <td colSpan={columns}>
            <ErrorNote error={error} />
          </td>
        </tr>
      )}
    </>
  );
}

function stateWords({ state, pause, platforms }: Rule): string {
  if (state === 'failed') return 'refused by a platform';
  if (pause) return pauseWords(pause);
  return Object.entries(platformNames)
    .flatMap(([id, name]) => {
      const platform = platforms[id as keyof typeof platformNames];
      return platform ? [`${name} ${listeningWords(platform.listening)}`] : [];
    })
    .join(', ');
}

function pauseWords({ reason, resumes_at }: NonNullable<Rule['pause']>): string {
  switch (reason) {
    case 'request':
      return 'paused';
    case 'expired':
      return 'expired';
    case 'budget':
      return `paused by a budget${resumes_at === null ? '' : `, resumes ${formatTime(resumes_at)}`}`;
    case 'default_budget':
      return 'paused by the default budget, which stopped it before';
    case 'suspension':
      return 'paused with the account, resumes soon';
  }
}

function listeningWords({ state, reason }: NonNullable<Rule['platforms']['x']>['listening']): string {
  if (state !== 'down') return state;
  return reason === null ? 'not receiving' : `not receiving: ${reasonWords(reason)}`;
}
