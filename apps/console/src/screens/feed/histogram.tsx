import { type RefObject, useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useThemeVersion } from '../../frame/use-theme-version.ts';
import { formatClock, formatCount, formatDay, formatTime } from '../../parts/format.ts';
import { axisSpacePx, axisSteps, type Division } from './counts.ts';
import styles from './histogram.module.css';

interface ChartProps {
  readonly division: Division;
  readonly counts: readonly number[];
  readonly onRange: (from: string, to: string) => void;
}

interface HistogramProps extends ChartProps {
  /** The time that it covers. */
  readonly words: string;
}

const heightPx = 96;

/** Matches over time. Dragging selects a range. The table has the same data and selection for keyboards and screen readers. */
export function Histogram(props: HistogramProps) {
  const themeVersion = useThemeVersion();
  const total = props.counts.reduce((sum, count) => sum + count, 0);
  return (
    <figure className={styles.figure}>
      {/* A canvas does not follow theme changes, so the key draws it again. */}
      <Chart key={themeVersion} {...props} />
      <figcaption>
        <details>
          <summary>
            {formatCount(total)} {total === 1 ? 'match' : 'matches'} {props.words} (table)
          </summary>
          <CountTable {...props} />
        </details>
      </figcaption>
    </figure>
  );
}

function Chart({ division, counts, onRange }: ChartProps) {
  const holder = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot>(null);
  // The chart reads its properties from here: recreating it for new data would cancel a selection in progress.
  const latest = useRef({ division, counts, onRange });
  useEffect(() => {
    latest.current = { division, counts, onRange };
    chart.current?.setData(dataOf(latest.current));
  }, [division, counts, onRange]);
  useEffect(() => {
    const element = holder.current;
    if (!element) return undefined;
    const made = new uPlot(optionsOf(element, latest), dataOf(latest.current), element);
    chart.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: heightPx }));
    observer.observe(element);
    return () => {
      chart.current = null;
      observer.disconnect();
      made.destroy();
    };
  }, []);
  return <div ref={holder} className={styles.chart} aria-hidden="true" />;
}

/** Each count is at the middle of its step, where uPlot centres the bar. */
function dataOf({ division, counts }: ChartProps): uPlot.AlignedData {
  const begin = Date.parse(division.from) / 1_000;
  return [counts.map((_, index) => begin + (index + 0.5) * division.stepSeconds), [...counts]];
}

function optionsOf(element: HTMLElement, latest: RefObject<ChartProps>): uPlot.Options {
  const ends = (): [number, number] => {
    const { from, to } = latest.current.division;
    return [Date.parse(from) / 1_000, Date.parse(to) / 1_000];
  };
  const quiet = colorOf(element, 'var(--text-quiet)');
  const line = colorOf(element, 'var(--line)');
  const accent = colorOf(element, 'var(--accent)');
  const axis = { stroke: quiet, grid: { stroke: line, width: 1 }, ticks: { show: false } };
  return {
    width: element.clientWidth,
    height: heightPx,
    legend: { show: false },
    padding: [8, 0, 0, 0],
    cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false } },
    scales: { x: { range: ends }, y: { range: (_, __, max) => [0, Math.max(4, max)] } },
    axes: [
      { ...axis, grid: { show: false }, size: 24, space: 80, values: (_, seconds) => seconds.map(axisLabel) },
      {
        ...axis,
        size: 44,
        space: axisSpacePx,
        incrs: [...axisSteps],
      },
    ],
    series: [
      {},
      {
        fill: accent,
        width: 0,
        points: { show: false },
        ...(uPlot.paths.bars && { paths: uPlot.paths.bars({ size: [0.85] }) }),
      },
    ],
    hooks: {
      setSelect: [
        (chart) => {
          const { left, width } = chart.select;
          if (width < 4) return;
          const time = (px: number) => new Date(chart.posToVal(px, 'x') * 1_000).toISOString();
          latest.current.onRange(time(left), time(left + width));
        },
      ],
    },
  };
}

/** Labels midnight with the day, other times with the clock. */
function axisLabel(seconds: number): string {
  const time = new Date(seconds * 1_000);
  return time.getHours() === 0 && time.getMinutes() === 0 ? formatDay(time) : formatClock(time);
}

/** Resolves a CSS variable to a colour: a canvas does not understand variables. */
function colorOf(element: HTMLElement, value: string): string {
  element.style.color = value;
  const { color } = getComputedStyle(element);
  element.style.color = '';
  return color;
}

function CountTable({ division, counts, onRange }: ChartProps) {
  const begin = Date.parse(division.from);
  const time = (index: number) => new Date(begin + index * division.stepSeconds * 1_000).toISOString();
  return (
    <div className={styles.table}>
      <table>
        <thead>
          <tr>
            <th scope="col">From</th>
            <th scope="col">Matches</th>
            <th scope="col">
              <span className={styles.visuallyHidden}>Choose</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {counts.map((count, index) =>
            count === 0 ? null : (
              <tr key={time(index)}>
                <td>{formatTime(time(index))}</td>
                <td>{formatCount(count)}</td>
                <td>
                  <button type="button" onClick={() => onRange(time(index), time(index + 1))}>
                    Show these
                  </button>
                </td>
              </tr>
            ),
          )}
        </tbody>
      </table>
    </div>
  );
}
