import styles from './note.module.css';

/** Shown only if it takes long enough to be noticed. */
export function Loading({ what = 'Loading' }: { what?: string }) {
  return <output className={styles.loading}>{what} …</output>;
}
