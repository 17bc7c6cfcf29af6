import type { ReactNode } from 'react';
import styles from './note.module.css';

/** Replaces an empty list: says why it is empty and what to do next. */
export function EmptyNote({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className={styles.empty}>
      <p className={styles.title}>{title}</p>
      {children}
    </div>
  );
}
