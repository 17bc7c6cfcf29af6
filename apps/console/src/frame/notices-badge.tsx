import { useOpenNotices } from '../api/open-notices.ts';
import { Unseen } from '../parts/unseen.tsx';
import styles from './notices-badge.module.css';

/** How many notices are open; live. */
export function NoticesBadge() {
  const { data } = useOpenNotices();
  if (!data || data.notices.length === 0) return null;
  const isUrgent = data.notices.some(({ severity }) => severity === 'critical');
  return (
    <span className={isUrgent ? styles.urgent : styles.badge}>
      {data.notices.length}
      {data.next_cursor !== null && '+'}
      <Unseen> open</Unseen>
    </span>
  );
}
