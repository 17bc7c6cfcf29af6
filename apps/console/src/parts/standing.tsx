import type { ReactNode } from 'react';
import styles from './standing.module.css';
import type { StandingKind } from './standing-kind.ts';

/** How something is doing: a word, with a mark whose form tells the same as its colour. */
export function Standing({ kind, children }: { kind: StandingKind; children: ReactNode }) {
  return (
    <span className={styles.standing}>
      <svg className={styles[kind]} viewBox="0 0 10 10" aria-hidden="true">
        {marks[kind]}
      </svg>
      <span>{children}</span>
    </span>
  );
}

const marks: Readonly<Record<StandingKind, ReactNode>> = {
  good: <circle cx="5" cy="5" r="4" />,
  idle: <circle cx="5" cy="5" r="3.25" fill="none" strokeWidth="1.5" />,
  warn: <path d="M5 1 9.5 9h-9z" />,
  bad: <path d="M1 1h8v8h-8z" />,
};
