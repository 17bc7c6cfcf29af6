import { type Reachability, useIsReached } from '../api/reachability.ts';
import styles from './server-unreachable.module.css';

/** A banner on every screen while the server cannot be reached. */
export function ServerUnreachable({ reachability }: { reachability: Reachability }) {
  const isReached = useIsReached(reachability);
  return (
    <output className={styles.banner} hidden={isReached}>
      {!isReached && 'The server cannot be reached. This page may be out of date; trying again …'}
    </output>
  );
}
