import type { ReactNode } from 'react';
import styles from './note.module.css';

/** Where there is nothing: what is true, and what comes next. */
export function EmptyNote({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className={styles.empty}>
      <p className={styles.title}>{title}</p>
      {children}
    </div>
  );
}
