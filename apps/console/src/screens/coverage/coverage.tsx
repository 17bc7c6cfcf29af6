import { useSearchParams } from 'wouter';
import { useRules } from '../../api/rules.ts';
import { Choice } from '../../parts/choice.tsx';
import { EmptyNote } from '../../parts/empty-note.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Screen } from '../../parts/screen.tsx';
import { Time } from '../../parts/time.tsx';
import styles from './coverage.module.css';
import { Gaps } from './gaps.tsx';
import { isNews } from './intervals.ts';
import { Axis, Lanes } from './lanes.tsx';
import { RuleLanes } from './rule-lanes.tsx';
import { Legend } from './strip.tsx';
import { type CoverageAnswer, useCoverage } from './use-coverage.ts';
import { isWindowName, type WindowName, windowLabels } from './windows.ts';

/** When somebody was listening: whether nothing happened, or nobody heard it. */
export function Coverage() {
  const [params, setParams] = useSearchParams();
  const asked = params.get('window');
  const window: WindowName = isWindowName(asked) ? asked : '24h';
  const ruleId = params.get('rule');
  const change = (name: string, value: string | null) =>
    setParams((before) => changed(before, name, value), { replace: true });
  return (
    <Screen
      title="Coverage"
      actions={
        <Choice
          label="Time"
          options={windowLabels}
          value={window}
          onChange={(name) => change('window', name)}
        />
      }
    >
      <Platforms window={window} />
      <RuleLanes window={window} chosen={ruleId} onChoose={(id) => change('rule', id)} />
    </Screen>
  );
}

function changed(params: URLSearchParams, name: string, value: string | null): URLSearchParams {
  const next = new URLSearchParams(params);
  if (value === null) next.delete(name);
  else next.set(name, value);
  return next;
}

function Platforms({ window }: { window: WindowName }) {
  const { data, error, refetch } = useCoverage(window);
  const hasNoRule = useRules().data?.length === 0;
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading what="Reading the coverage" />;
  // That there is no rule is said below, with what to do.
  if (data.intervals.length === 0 && hasNoRule) return null;
  if (data.intervals.length === 0)
    return (
      <EmptyNote title="No rule was active in this time.">
        <p>Coverage begins with the first active rule.</p>
      </EmptyNote>
    );
  return (
    <section className={styles.section} aria-labelledby="platforms">
      <header className={styles.header}>
        <h2 id="platforms">Platforms</h2>
        <Legend />
      </header>
      <ul className={styles.lanes}>
        <Lanes intervals={data.intervals} window={data.window} />
      </ul>
      <Axis window={data.window} />
      <Through answer={data} />
      {data.intervals.some(isNews) ? (
        <Gaps intervals={data.intervals} now={data.window.to} of="the platforms" />
      ) : (
        <p className={styles.quiet}>There is no gap in this time.</p>
      )}
    </section>
  );
}

function Through({ answer: { complete_through, from, window } }: { answer: CoverageAnswer }) {
  const isShorter = Date.parse(from) - window.from > 60_000;
  return (
    <p className={styles.quiet}>
      {complete_through !== null && (
        <>
          Everything up to <Time at={complete_through} /> is in the feed, apart from the gaps.
        </>
      )}
      {isShorter && (
        <>
          {' '}
          What was before <Time at={from} /> is not kept, or is too much to show.
        </>
      )}
    </p>
  );
}
