import styles from './note.module.css';

/** Becomes visible only after a short delay, so that fast answers do not flicker. */
export function Loading({ what = 'Loading' }: { what?: string }) {
  return <output className={styles.loading}>{what} …</output>;
}
