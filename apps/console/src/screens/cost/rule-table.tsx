import { Link } from 'wouter';
import { ErrorNote } from '../../parts/error-note.tsx';
import { Loading } from '../../parts/loading.tsx';
import { platformNames } from '../../parts/platforms.ts';
import { Table } from '../../parts/table.tsx';
import styles from './cost.module.css';
import { FigureCells, FigureHeaders } from './figure-cells.tsx';
import { byRule, type RuleUsage } from './usage.ts';
import { type SpanName, useUsage } from './use-usage.ts';

/** The most rules that the API lists. */
const rulesMax = 1_000;

export function RuleTable({ span }: { span: SpanName }) {
  const { data, error, refetch } = useUsage('rule', span, null);
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading what="Loading the costs of the rules" />;
  if (data.usage.length === 0) return null;
  return (
    <section className={styles.section} aria-labelledby="rules">
      <h2 id="rules">Rules by cost</h2>
      <Table label="Usage by rule">
        <thead>
          <tr>
            <th scope="col">Rule</th>
            <th scope="col">Platforms</th>
            <FigureHeaders />
          </tr>
        </thead>
        <tbody>
          {byRule(data.usage).map((usage) => (
            <tr key={usage.ruleId}>
              <th scope="row">
                <RuleName usage={usage} />
              </th>
              <td>{usage.platforms.map((platform) => platformNames[platform]).join(', ')}</td>
              <FigureCells figures={usage} />
            </tr>
          ))}
        </tbody>
      </Table>
      {data.usage.length >= rulesMax && (
        <p className={styles.quiet}>Only the {rulesMax.toLocaleString()} most expensive rules are listed.</p>
      )}
    </section>
  );
}

function RuleName({ usage: { ruleId, name } }: { usage: RuleUsage }) {
  return (
    <>
      <Link href={`/cost?rule=${ruleId}`} title={ruleId}>
        {name ?? ruleId}
      </Link>
      {name === null && <span className={styles.quiet}> deleted</span>}
    </>
  );
}
