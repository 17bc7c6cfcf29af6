import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { Button } from '../../parts/button.tsx';
import { formatCount } from '../../parts/format.ts';
import styles from './feed.module.css';
import { describeLive, type LiveFacts } from './live-words.ts';

const announceMs = 2_000;

/** Shows whether the feed is live, and how many new matches wait. */
export function LiveStatus({
  freshCount,
  onShowNew,
  ...facts
}: LiveFacts & { readonly freshCount: number; readonly onShowNew: () => void }) {
  const { state, words } = describeLive(facts);
  const announced = useSettled(freshCount, announceMs);
  return (
    <div className={styles.status}>
      {freshCount > 0 && (
        <Button kind="primary" onClick={onShowNew}>
          +{formatCount(freshCount)} new
        </Button>
      )}
      <span className={styles.state} data-state={state}>
        {state === 'down' ? <Link href="/sources">{words}</Link> : words}
      </span>
      <output className={styles.visuallyHidden}>
        {announced > 0 ? `${formatCount(announced)} new matches` : ''}
      </output>
    </div>
  );
}

/** The value after it has not changed for `ms`, so that screen readers do not announce every match. */
function useSettled(value: number, ms: number): number {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
