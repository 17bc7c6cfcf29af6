import { type ReactNode, useEffect } from 'react';
import styles from './screen.module.css';

/** A screen's heading with its actions, and the name in the browser's tab. */
export function Screen({
  title,
  actions,
  fills = false,
  children,
}: {
  title: string;
  actions?: ReactNode;
  /** As high as the window, with parts that scroll by themselves. */
  fills?: boolean;
  children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Earshot`;
  }, [title]);
  return (
    <div className={styles.screen} data-fills={fills}>
      <header className={styles.header}>
        <h1>{title}</h1>
        {actions && <div className={styles.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  );
}
