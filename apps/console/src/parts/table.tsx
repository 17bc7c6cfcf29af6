import type { ReactNode } from 'react';
import styles from './table.module.css';

/** A table that scrolls sideways on narrow screens. It is focusable, so that the keyboard can scroll it. */
export function Table({ label, children }: { label: string; children: ReactNode }) {
  return (
    <section className={styles.scroll} aria-label={label} tabIndex={0}>
      <table className={styles.table}>{children}</table>
    </section>
  );
}
