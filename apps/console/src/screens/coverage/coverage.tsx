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
import { isOutage } from './intervals.ts';
import { Axis, Lanes } from './lanes.tsx';
import { RuleLanes } from './rule-lanes.tsx';
import { Legend } from './strip.tsx';
import { type CoverageAnswer, useCoverage } from './use-coverage.ts';
import { isWindowName, type WindowName, windowLabels } from './windows.ts';

/** Shows when Earshot received events: distinguishes a quiet period from an outage. */
export function Coverage() {
  const [params, setParams] = useSearchParams();
  const requested = params.get('window');
  const window: WindowName = isWindowName(requested) ? requested : '24h';
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
  if (!data) return <Loading what="Loading the coverage" />;
  // Without rules, `RuleLanes` says what to do.
  if (data.intervals.length === 0 && hasNoRule) return null;
  if (data.intervals.length === 0)
    return (
      <EmptyNote title="No rule was active in this period.">
        <p>Coverage starts when the first rule becomes active.</p>
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
      <CompleteThrough answer={data} />
      {data.intervals.some(isOutage) ? (
        <Gaps intervals={data.intervals} now={data.window.to} of="the platforms" />
      ) : (
        <p className={styles.quiet}>No gaps in this period.</p>
      )}
    </section>
  );
}

function CompleteThrough({ answer: { complete_through, from, window } }: { answer: CoverageAnswer }) {
  const isShorter = Date.parse(from) - window.from > 60_000;
  return (
    <p className={styles.quiet}>
      {complete_through !== null && (
        <>
          The feed is complete up to <Time at={complete_through} />, apart from the gaps and what their repair
          left out.
        </>
      )}
      {isShorter && (
        <>
          {' '}
          Coverage before <Time at={from} /> is no longer stored, or is too much to show.
        </>
      )}
    </p>
  );
}
