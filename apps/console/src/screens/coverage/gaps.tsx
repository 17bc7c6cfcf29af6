import { formatDuration } from '../../parts/duration.ts';
import { platformNames } from '../../parts/platforms.ts';
import { Standing } from '../../parts/standing.tsx';
import type { StandingKind } from '../../parts/standing-kind.ts';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import styles from './coverage.module.css';
import { endOf, type Interval, isNews } from './intervals.ts';
import { reasonWords, repairWords } from './words.ts';

/** Every gap, the newest first, with why and what was done about it. */
export function Gaps({
  intervals,
  now,
  of,
}: {
  intervals: readonly Interval[];
  now: number;
  /** Whose they are. */
  of: string;
}) {
  const gaps = intervals.filter(isNews).toSorted((a, b) => Date.parse(b.from) - Date.parse(a.from));
  return (
    <Table label={`Gaps of ${of}`}>
      <thead>
        <tr>
          <th scope="col">Began</th>
          <th scope="col">Ended</th>
          <th scope="col">Lasted</th>
          <th scope="col">Platform</th>
          <th scope="col">Why it was not listening</th>
          <th scope="col">What was missed</th>
        </tr>
      </thead>
      <tbody>
        {gaps.map((gap) => (
          <tr key={`${gap.platform} ${gap.from}`}>
            <td>
              <Time at={gap.from} />
            </td>
            <td>{gap.to === null ? 'lasts' : <Time at={gap.to} />}</td>
            <td className={styles.lasted}>{formatDuration(endOf(gap, now) - Date.parse(gap.from))}</td>
            <td>{platformNames[gap.platform]}</td>
            <td>{reasonWords(gap.reason)}</td>
            <td>
              <Standing kind={kindOf(gap)}>{repairWords(gap)}</Standing>
            </td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

function kindOf({ state, repair }: Interval): StandingKind {
  if (state === 'repaired') return 'good';
  return repair?.state === 'waiting' ? 'warn' : 'bad';
}
