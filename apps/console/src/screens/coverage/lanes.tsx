import type { ReactNode } from 'react';
import { platformNames } from '../../parts/platforms.ts';
import { type Interval, summarise, type Window } from './intervals.ts';
import { laneWords } from './lane-words.ts';
import styles from './lanes.module.css';
import { Strip } from './strip.tsx';

/** The first row keeps its key when the data arrives, so that its title keeps the focus. */
const firstKey = 'first';

/** One timeline per platform. */
export function Lanes({
  intervals,
  window,
  title,
  empty,
}: {
  intervals: readonly Interval[];
  window: Window;
  /** Shown before the platform names. */
  title?: ReactNode;
  /** Shown if there are no intervals. */
  empty?: string;
}) {
  const platforms = [...Map.groupBy(intervals, ({ platform }) => platform)];
  if (platforms.length === 0)
    return (
      <li key={firstKey} className={styles.lane}>
        <span className={styles.name}>{title}</span>
        <span className={styles.words}>{empty}</span>
      </li>
    );
  return platforms.map(([platform, own], index) => {
    const summary = summarise(own, window);
    const words = laneWords(own, summary, new Date(window.to));
    return (
      <li key={index === 0 ? firstKey : platform} className={styles.lane}>
        {title !== undefined && <span className={styles.name}>{index === 0 && title}</span>}
        <span className={styles.platform}>{platformNames[platform]}</span>
        <Strip intervals={own} window={window} />
        <span className={styles.covered}>{summary.covered === null ? '–' : percent(summary.covered)}</span>
        <span className={styles.words}>{words}</span>
      </li>
    );
  });
}

/** Rounds down, so that a timeline with a gap never shows 100%. */
function percent(share: number): string {
  const floored = Math.floor(share * 10_000) / 10_000;
  return new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 2 }).format(floored);
}

const ticks = 4;

/** The time axis under the timelines. */
export function Axis({ window: { from, to }, isNamed = false }: { window: Window; isNamed?: boolean }) {
  const tickMs = (to - from) / ticks;
  return (
    <div className={styles.lane} aria-hidden="true">
      {isNamed && <span className={styles.name} />}
      <span className={styles.platform} />
      <span className={styles.axis}>
        {Array.from({ length: ticks }, (_, tick) => from + tick * tickMs).map((at) => (
          <span key={at} className={styles.tick}>
            {tickFormat(tickMs).format(at)}
          </span>
        ))}
        <span className={styles.now}>now</span>
      </span>
      <span className={styles.covered} />
      <span className={styles.words} />
    </div>
  );
}

const dayMs = 86_400_000;

/** Labels ticks with days if they are at least a day apart, otherwise with times. */
function tickFormat(tickMs: number): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat(
    undefined,
    tickMs >= dayMs ? { day: 'numeric', month: 'short' } : { hour: 'numeric', minute: '2-digit' },
  );
}
