import type { Interval, Window } from './intervals.ts';
import { segmentsOf } from './intervals.ts';
import styles from './strip.module.css';
import { stateWords } from './words.ts';

const width = 1_000;
const height = 20;

/** Each state also has its own height, for users who do not see colours. */
const heights: Readonly<Record<Interval['state'], number>> = {
  live: 12,
  repaired: 16,
  gap: 20,
  starting: 6,
  not_watched: 2,
};

/** A timeline. It is hidden from screen readers: put the same information in words beside it. */
export function Strip({ intervals, window }: { intervals: readonly Interval[]; window: Window }) {
  return (
    <svg
      className={styles.strip}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {segmentsOf(intervals, window).map(({ interval, start, width: share }) => (
        <rect
          key={`${interval.state} ${interval.from}`}
          className={styles[interval.state]}
          x={start * width}
          width={share * width}
          y={(height - heights[interval.state]) / 2}
          height={heights[interval.state]}
        />
      ))}
    </svg>
  );
}

export function Legend() {
  return (
    <ul className={styles.legend} aria-label="Legend">
      {Object.entries(heights).map(([state, stateHeight]) => (
        <li key={state}>
          <svg viewBox={`0 0 16 ${height}`} aria-hidden="true">
            <rect className={styles[state]} width="16" y={(height - stateHeight) / 2} height={stateHeight} />
          </svg>
          {stateWords[state as Interval['state']]}
        </li>
      ))}
    </ul>
  );
}
