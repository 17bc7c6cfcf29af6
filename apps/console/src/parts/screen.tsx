import { type ReactNode, useEffect } from 'react';
import styles from './screen.module.css';

/** A screen with its heading, its actions and the title of the browser tab. */
export function Screen({
  title,
  actions,
  fills = false,
  children,
}: {
  title: string;
  actions?: ReactNode;
  /** Fits the screen to the window height; its parts scroll separately. */
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
