import { formatCount } from '../../parts/format.ts';
import styles from './rules.module.css';

const [width, height] = [112, 24];

/** A line chart without numbers. Its label has the sum. */
export function Sparkline({ counts }: { counts: readonly number[] | undefined }) {
  if (!counts) return null;
  const max = Math.max(1, ...counts);
  const points = counts.map((count, index) => {
    const x = (index / Math.max(1, counts.length - 1)) * width;
    return `${x.toFixed(1)},${(height - 1 - (count / max) * (height - 2)).toFixed(1)}`;
  });
  const sum = counts.reduce((total, count) => total + count, 0);
  return (
    <svg
      className={styles.spark}
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      role="img"
      aria-label={`${formatCount(sum)} matches in 7 days`}
    >
      <polyline points={points.join(' ')} />
    </svg>
  );
}
