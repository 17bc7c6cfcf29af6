import { type Reachability, useIsReached } from '../api/reachability.ts';
import styles from './server-away.module.css';

/** On every screen, while what it shows cannot be brought up to date. */
export function ServerAway({ reachability }: { reachability: Reachability }) {
  const isReached = useIsReached(reachability);
  return (
    <output className={styles.away} hidden={isReached}>
      {!isReached && 'The server cannot be reached. What is shown is from before; trying again …'}
    </output>
  );
}
