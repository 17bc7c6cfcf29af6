import { formatUsd, formatUsdRange } from '../../parts/format.ts';
import styles from './day-chart.module.css';
import { dayName } from './day-name.ts';
import type { DayUsage } from './usage.ts';

export type Measure = 'usd' | 'matches';

const height = 100;
const step = 10;
const gap = 2;

/** One bar per day: solid up to the minimum cost, light up to the maximum. `DayTable` has the same data for screen readers. */
export function DayChart({ days, measure }: { days: readonly DayUsage[]; measure: Measure }) {
  const highest = Math.max(...days.map((day) => topOf(day, measure)), 0);
  const [first, last] = [days[0], days.at(-1)];
  if (!first || !last) return null;
  return (
    <figure className={styles.chart} aria-hidden="true">
      <span className={styles.top}>{measure === 'usd' ? formatUsd(highest) : highest.toLocaleString()}</span>
      <svg viewBox={`0 0 ${days.length * step} ${height}`} preserveAspectRatio="none">
        {days.map((day, index) => (
          <g key={day.day}>
            <title>{`${dayName(day.day)}: ${formatUsdRange(day.usd)}, ${day.matches.toLocaleString()} matches`}</title>
            <rect className={styles.hover} x={index * step} width={step} y="0" height={height} />
            <Bar className={styles.most} index={index} share={shareOf(topOf(day, measure), highest)} />
            <Bar className={styles.least} index={index} share={shareOf(baseOf(day, measure), highest)} />
          </g>
        ))}
      </svg>
      <figcaption className={styles.axis}>
        <span>{dayName(first.day)}</span>
        <span>{dayName(last.day)}, today (UTC)</span>
      </figcaption>
    </figure>
  );
}

function Bar({ className, index, share }: { className: string | undefined; index: number; share: number }) {
  const barHeight = share * height;
  return (
    <rect
      className={className}
      x={index * step + gap / 2}
      width={step - gap}
      y={height - barHeight}
      height={barHeight}
    />
  );
}

function topOf({ usd, matches }: DayUsage, measure: Measure): number {
  return measure === 'usd' ? usd.max : matches;
}

function baseOf({ usd, matches }: DayUsage, measure: Measure): number {
  return measure === 'usd' ? usd.min : matches;
}

function shareOf(value: number, highest: number): number {
  return highest === 0 ? 0 : value / highest;
}
