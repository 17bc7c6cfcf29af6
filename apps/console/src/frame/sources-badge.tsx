import { disconnectedPlatforms } from '../api/disconnected.ts';
import { useRules } from '../api/rules.ts';
import { VisuallyHidden } from '../parts/visually-hidden.tsx';
import styles from './notices-badge.module.css';

/** Marks the sources while one that serves the account's rules does not receive. */
export function SourcesBadge() {
  const { data: rules = [] } = useRules();
  if (disconnectedPlatforms(rules).length === 0) return null;
  return (
    <span className={styles.urgent}>
      <span aria-hidden="true">!</span>
      <VisuallyHidden> not receiving</VisuallyHidden>
    </span>
  );
}
