import { formatDuration } from '../../parts/duration.ts';
import { platformNames } from '../../parts/platforms.ts';
import type { StatusKind } from '../../parts/status-kind.ts';
import { StatusMark } from '../../parts/status-mark.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import styles from './coverage.module.css';
import { endOf, type Interval, isOutage } from './intervals.ts';
import { reasonWords, repairWords } from './words.ts';

/** All gaps, newest first, with their causes and repairs. */
export function Gaps({
  intervals,
  now,
  of,
}: {
  intervals: readonly Interval[];
  now: number;
  /** The platforms or the rule that the gaps belong to. */
  of: string;
}) {
  const gaps = intervals.filter(isOutage).toSorted((a, b) => Date.parse(b.from) - Date.parse(a.from));
  return (
    <Table label={`Gaps of ${of}`}>
      <thead>
        <tr>
          <th scope="col">Start</th>
          <th scope="col">End</th>
          <th scope="col">Duration</th>
          <th scope="col">Platform</th>
          <th scope="col">Cause</th>
          <th scope="col">Missed events</th>
        </tr>
      </thead>
      <tbody>
        {gaps.map((gap) => (
          <tr key={`${gap.platform} ${gap.from}`}>
            <td>
              <Time at={gap.from} />
            </td>
            <td>{gap.to === null ? 'ongoing' : <Time at={gap.to} />}</td>
            <td className={styles.duration}>{formatDuration(endOf(gap, now) - Date.parse(gap.from))}</td>
            <td>{platformNames[gap.platform]}</td>
            <td>{reasonWords(gap.reason)}</td>
            <td>
              <StatusMark kind={kindOf(gap)}>{repairWords(gap)}</StatusMark>
            </td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

function kindOf({ state, repair }: Interval): StatusKind {
  if (state === 'repaired') return 'good';
  return repair?.state === 'waiting' ? 'warn' : 'bad';
}
