import type { Rule } from '@earshot/sdk';
import { useState } from 'react';
import { Link } from 'wouter';
import { useRules } from '../../api/rules.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyNote } from '../../parts/empty-note.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { Loading } from '../../parts/loading.tsx';
import styles from './coverage.module.css';
import { Gaps } from './gaps.tsx';
import { isOutage } from './intervals.ts';
import { Axis, Lanes } from './lanes.tsx';
import { useCoverage, useRuleCoverage } from './use-coverage.ts';
import type { WindowName } from './windows.ts';

/** Limits the requests: each timeline needs its own. */
const rulesAtOnce = 10;

export function RuleLanes({
  window,
  chosen,
  onChoose,
}: {
  window: WindowName;
  chosen: string | null;
  onChoose: (ruleId: string | null) => void;
}) {
  const { data, error, refetch } = useRules();
  const axis = useCoverage(window).data?.window;
  const [shown, setShown] = useState(rulesAtOnce);
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading what="Loading the rules" />;
  if (data.length === 0)
    return (
      <EmptyNote title="There are no rules yet.">
        <p>
          <Link href="/rules/new">Create a rule</Link> to see its coverage here.
        </p>
      </EmptyNote>
    );
  const [own, others] = [data.filter(({ id }) => id === chosen), data.filter(({ id }) => id !== chosen)];
  const left = others.length - shown;
  return (
    <section className={styles.section} aria-labelledby="rules">
      <h2 id="rules">Rules</h2>
      <ul className={styles.rules}>
        {[...own, ...others.slice(0, shown)].map((rule) => (
          <RuleLane
            key={rule.id}
            rule={rule}
            window={window}
            isChosen={rule.id === chosen}
            onToggle={() => onChoose(rule.id === chosen ? null : rule.id)}
          />
        ))}
      </ul>
      {axis && <Axis window={axis} isNamed />}
      {left > 0 && (
        <p>
          <Button onClick={() => setShown(shown + rulesAtOnce)}>
            Show {Math.min(left, rulesAtOnce)} more of {left}
          </Button>
        </p>
      )}
    </section>
  );
}

const unknownWindow = { from: 0, to: 0 };

function RuleLane({
  rule,
  window,
  isChosen,
  onToggle,
}: {
  rule: Rule;
  window: WindowName;
  isChosen: boolean;
  onToggle: () => void;
}) {
  const { data, error, refetch } = useRuleCoverage(window, rule.id);
  const gapsId = `gaps-${rule.id}`;
  const name = (
    <button
      type="button"
      className={styles.rule}
      aria-expanded={isChosen}
      aria-controls={gapsId}
      onClick={onToggle}
    >
      {rule.name}
    </button>
  );
  const intervals = data?.intervals ?? [];
  return (
    <li>
      <ul className={styles.lanes}>
        <Lanes
          intervals={intervals}
          window={data?.window ?? unknownWindow}
          title={name}
          empty={data ? 'Not active in this period' : '…'}
        />
      </ul>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      <div id={gapsId} className={styles.gaps} hidden={!isChosen}>
        {data && isChosen && <RuleGaps intervals={intervals} now={data.window.to} rule={rule} />}
      </div>
    </li>
  );
}

function RuleGaps({
  intervals,
  now,
  rule,
}: {
  intervals: Parameters<typeof Gaps>[0]['intervals'];
  now: number;
  rule: Rule;
}) {
  return (
    <>
      {intervals.some(isOutage) ? (
        <Gaps intervals={intervals} now={now} of={rule.name} />
      ) : (
        <p>This rule has no gaps in this period.</p>
      )}
      <p>
        <Link href={`/feed?rule=${rule.id}`}>Matches of this rule</Link> ·{' '}
        <Link href={`/rules/${rule.id}`}>Edit the rule</Link>
      </p>
    </>
  );
}
