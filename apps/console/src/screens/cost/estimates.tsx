import type { Notice } from '@earshot/sdk';
import { Link } from 'wouter';
import { useOpenNotices } from '../../api/open-notices.ts';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import styles from './cost.module.css';

/**
 * The API tells of estimates only which were far off, as notices. That there is none says little: a rule may have had no
 * estimate, or not run for a day yet.
 */
export function Estimates({ ruleId }: { ruleId: string | null }) {
  const { data } = useOpenNotices();
  // The badge shows the same query, and the screen of notices tells when it fails.
  if (!data) return null;
  const off = data.notices.filter(
    ({ type, subject }) => type === 'estimate.off' && (ruleId === null || subject.id === ruleId),
  );
  return (
    <section className={styles.section} aria-labelledby="estimates">
      <h2 id="estimates">Estimates that were far off</h2>
      <p className={styles.quiet}>
        {off.length === 0 &&
          (data.next_cursor === null ? 'None is known. ' : 'None among the latest notices. ')}
        What a version of a rule brings is compared with its estimate after its first day and its first week,
        if it had one and ran without a break. Half or twice as much is far off, as is what lies beyond a
        bound.
      </p>
      {off.length > 0 && (
        <Table label="Estimated and came, by rule">
          <thead>
            <tr>
              <th scope="col">Rule</th>
              <th scope="col">Platform</th>
              <th scope="col" className={styles.number}>
                Estimated
              </th>
              <th scope="col" className={styles.number}>
                Came
              </th>
              <th scope="col">In</th>
              <th scope="col">Compared</th>
            </tr>
          </thead>
          <tbody>
            {off.map((notice) => (
              <EstimateRow key={notice.id} notice={notice} />
            ))}
          </tbody>
        </Table>
      )}
    </section>
  );
}

function EstimateRow({ notice: { subject, data, created_at } }: { notice: Notice }) {
  const number = (name: string) => Number(data[name]).toLocaleString();
  return (
    <tr>
      <th scope="row">
        <Link href={`/rules/${subject.id}`}>{subject.name}</Link>
      </th>
      <td>{String(data['platform'])}</td>
      <td className={styles.number}>{number('estimated')}</td>
      <td className={styles.number}>{number('matches')}</td>
      <td>{data['days'] === 1 ? 'a day' : `${number('days')} days`}</td>
      <td>
        <Time at={created_at} />
      </td>
    </tr>
  );
}
