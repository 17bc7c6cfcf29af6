import { Link, useSearchParams } from 'wouter';
import { useRules } from '../../api/rules.ts';
import { Choice } from '../../parts/choice.tsx';
import { EmptyNote } from '../../parts/empty-note.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { formatUsdRange } from '../../parts/format.ts';
import { Loading } from '../../parts/loading.tsx';
import { Screen } from '../../parts/screen.tsx';
import { Budgets } from './budgets.tsx';
import styles from './cost.module.css';
import { DayChart, type Measure } from './day-chart.tsx';
import { dateName } from './day-name.ts';
import { DayTable } from './day-table.tsx';
import { RuleTable } from './rule-table.tsx';
import { byDay } from './usage.ts';
import { isSpanName, type SpanName, spanLabels, useUsage } from './use-usage.ts';

const measures = { usd: 'Dollars', matches: 'Matches' } as const;

export function Cost() {
  const [params, setParams] = useSearchParams();
  const days = params.get('days');
  const span: SpanName = isSpanName(days) ? days : '30';
  const measure: Measure = params.get('measure') === 'matches' ? 'matches' : 'usd';
  const ruleId = params.get('rule');
  const change = (name: string, value: string) =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before);
        if (value === '') next.delete(name);
        else next.set(name, value);
        return next;
      },
      { replace: true },
    );
  return (
    <Screen
      title="Cost"
      actions={
        <>
          <RuleSelect value={ruleId ?? ''} onChange={(id) => change('rule', id)} />
          <Choice
            label="Measure"
            options={measures}
            value={measure}
            onChange={(name) => change('measure', name)}
          />
          <Choice label="Time" options={spanLabels} value={span} onChange={(name) => change('days', name)} />
        </>
      }
    >
      <ByDay span={span} ruleId={ruleId} measure={measure} />
      <Budgets ruleId={ruleId} />
      {ruleId === null && <RuleTable span={span} />}
    </Screen>
  );
}

function RuleSelect({ value, onChange }: { value: string; onChange: (ruleId: string) => void }) {
  const rules = useRules().data ?? [];
  const isUnknown = value !== '' && !rules.some(({ id }) => id === value);
  return (
    <select
      className={styles.select}
      aria-label="Rule"
      value={value}
      onChange={({ target }) => onChange(target.value)}
    >
      <option value="">All rules</option>
      {isUnknown && <option value={value}>{value}</option>}
      {rules.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}

function ByDay({ span, ruleId, measure }: { span: SpanName; ruleId: string | null; measure: Measure }) {
  const { data, error, refetch } = useUsage('day', span, ruleId);
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading what="Loading the costs" />;
  const { total, prices_as_of, usage, window } = data;
  if (usage.length === 0)
    return (
      <EmptyNote title={`No matches in the last ${spanLabels[span]}, so no cost.`}>
        <p>
          To check for outages in that time, open <Link href="/coverage">coverage</Link>.
        </p>
      </EmptyNote>
    );
  const days = byDay(usage, window);
  return (
    <section className={styles.section} aria-labelledby="days">
      <h2 id="days">Cost per day</h2>
      <dl className={styles.totals}>
        <div>
          <dt>Cost</dt>
          <dd>{formatUsdRange(total.usd)}</dd>
        </div>
        <div>
          <dt>Matches</dt>
          <dd>{total.matches.toLocaleString()}</dd>
        </div>
      </dl>
      <DayChart days={days} measure={measure} />
      <p className={styles.quiet}>
        The lower amount counts posts and pages only. The higher amount also counts the authors and referenced
        posts that were delivered with them, each time they were delivered. It is not documented which of the
        two a platform charges. Prices as of {dateName(prices_as_of)}.
      </p>
      <details>
        <summary>Table of all days</summary>
        <DayTable days={days} />
      </details>
    </section>
  );
}
