import { formatUsdRange } from '../../parts/format.ts';
import styles from './cost.module.css';
import type { Figures } from './usage.ts';

export function FigureHeaders() {
  return (
    <>
      <th scope="col" className={styles.number}>
        Cost
      </th>
      <th scope="col" className={styles.number}>
        Matches
      </th>
      <th scope="col" className={styles.number}>
        Posts
      </th>
      <th scope="col" className={styles.number} title="Posts that were delivered with a post">
        Referenced posts
      </th>
      <th
        scope="col"
        className={styles.number}
        title="Authors and other users that were delivered with a post"
      >
        Users
      </th>
      <th scope="col" className={styles.number}>
        Pages
      </th>
    </>
  );
}

export function FigureCells({ figures: { usd, matches, resources } }: { figures: Figures }) {
  const { posts, referenced_posts, users, pages } = resources;
  const amounts = { matches, posts, referenced_posts, users, pages };
  return (
    <>
      <td className={styles.number}>{formatUsdRange(usd)}</td>
      {Object.entries(amounts).map(([name, value]) => (
        <td key={name} className={styles.number}>
          {amount(value)}
        </td>
      ))}
    </>
  );
}

/** Amounts can be fractions: an item that several rules match is divided among them. */
function amount(value: number): string {
  return value === 0 ? '–' : value.toLocaleString(undefined, { maximumFractionDigits: 1 });
}
