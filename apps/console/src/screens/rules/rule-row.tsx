import type { Rule } from '@earshot/sdk';
import { Link } from 'wouter';
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

interface RuleRowProps {
  readonly rule: Rule;
  readonly figures: RuleFigures | undefined;
  readonly cost: RuleCost | undefined;
  readonly now: Date;
}

export function RuleRow({ rule, figures, cost, now }: RuleRowProps) {
  const lastMatch = Object.values(rule.platforms)
    .flatMap((platform) => platform?.last_match_at ?? [])
    .toSorted()
    .at(-1);
  return (
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
        <BudgetCell budget={rule.budget} now={now} />
      </td>
      <td>
        <CoverageStrip ruleId={rule.id} />
      </td>
      <td className={styles.wide}>{lastMatch === undefined ? 'none yet' : <Time at={lastMatch} />}</td>
      <td>
        <RuleActions rule={rule} />
      </td>
    </tr>
  );
}

/** What is true of the rule, with the reason where it is not heard. */
function stateWords({ state, pause, expires_at, platforms }: Rule): string {
  if (state === 'failed') return 'refused by a platform';
  if (state === 'paused') {
    if (pause?.reason === 'suspension') return 'paused with the account, resumes soon';
    if (pause)
      return `paused: its budget is spent${pause.resumes_at === null ? '' : `, resumes ${formatTime(pause.resumes_at)}`}`;
    return expires_at !== null && Date.parse(expires_at) < Date.now() ? 'expired' : 'paused';
  }
  return Object.entries(platformNames)
    .flatMap(([id, name]) => {
      const platform = platforms[id as keyof typeof platformNames];
      return platform ? [`${name} ${heardWords(platform)}`] : [];
    })
    .join(', ');
}

function heardWords({ heard, heard_reason }: NonNullable<Rule['platforms']['x']>): string {
  if (heard === 'live' || heard === 'starting') return heard;
  return heard_reason === null ? 'not heard' : `not heard: ${reasonWords(heard_reason)}`;
}
