import type { ReactNode } from 'react';
import styles from './table.module.css';

/** A table that scrolls by itself where it is wider than the screen; by keyboard too, so it takes the focus. */
export function Table({ label, children }: { label: string; children: ReactNode }) {
  return (
    <section className={styles.scroll} aria-label={label} tabIndex={0}>
      <table className={styles.table}>{children}</table>
    </section>
  );
}
