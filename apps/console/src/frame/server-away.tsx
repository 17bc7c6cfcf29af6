import { type Reachability, useIsReached } from '../api/reachability.ts';
import styles from './server-away.module.css';

/** On every screen, while what it shows cannot be brought up to date. */
export function ServerAway({ reachability }: { reachability: Reachability }) {
  const isReached = useIsReached(reachability);
  return (
    <output className={styles.away} hidden={isReached}>
      {!isReached && 'The server cannot be reached. This page may be out of date; trying again …'}
    </output>
  );
}
