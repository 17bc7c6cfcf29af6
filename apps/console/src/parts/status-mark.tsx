import type { ReactNode } from 'react';
import type { StatusKind } from './status-kind.ts';
import styles from './status-mark.module.css';

/** A status text with a mark. Its shape and its colour both show the kind, for users who do not see colours. */
export function StatusMark({ kind, children }: { kind: StatusKind; children: ReactNode }) {
  return (
    <span className={styles.status}>
      <svg className={styles[kind]} viewBox="0 0 10 10" aria-hidden="true">
        {marks[kind]}
      </svg>
      <span>{children}</span>
    </span>
  );
}

const marks: Readonly<Record<StatusKind, ReactNode>> = {
  good: <circle cx="5" cy="5" r="4" />,
  idle: <circle cx="5" cy="5" r="3.25" fill="none" strokeWidth="1.5" />,
  warn: <path d="M5 1 9.5 9h-9z" />,
  bad: <path d="M1 1h8v8h-8z" />,
};
