import { useOpenNotices } from '../api/open-notices.ts';
import { VisuallyHidden } from '../parts/visually-hidden.tsx';
import styles from './notices-badge.module.css';

/** The number of open notices. */
export function NoticesBadge() {
  const { data } = useOpenNotices();
  if (!data || data.notices.length === 0) return null;
  const isUrgent = data.notices.some(({ severity }) => severity === 'critical');
  return (
    <span className={isUrgent ? styles.urgent : styles.badge}>
      {data.notices.length}
      {data.next_cursor !== null && '+'}
      <VisuallyHidden> open</VisuallyHidden>
    </span>
  );
}
