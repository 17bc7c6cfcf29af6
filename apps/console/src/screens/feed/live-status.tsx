import { useEffect, useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { formatCount } from '../../parts/format.ts';
import styles from './feed.module.css';
import type { Connection } from './use-feed.ts';

const announceMs = 2_000;

/** Shows whether the feed is live, and how many new matches wait. */
export function LiveStatus({
  connection,
  isPaused,
  freshCount,
  onShowNew,
}: {
  connection: Connection;
  isPaused: boolean;
  freshCount: number;
  onShowNew: () => void;
}) {
  const announced = useSettled(freshCount, announceMs);
  return (
    <div className={styles.status}>
      {freshCount > 0 && (
        <Button kind="primary" onClick={onShowNew}>
          +{formatCount(freshCount)} new
        </Button>
      )}
      <span className={styles.state} data-state={isPaused && connection === 'live' ? 'paused' : connection}>
        {words(connection, isPaused)}
      </span>
      <output className={styles.visuallyHidden}>
        {announced > 0 ? `${formatCount(announced)} new matches` : ''}
      </output>
    </div>
  );
}

function words(connection: Connection, isPaused: boolean): string {
  switch (connection) {
    case 'connecting':
      return 'Connecting …';
    case 'reconnecting':
      return 'Connection lost. Reconnecting …';
    case 'crowded':
      return 'Not live: the key has reached its limit of open streams. Close another tab.';
    case 'none':
      return 'Past matches';
    case 'live':
      return isPaused ? 'Paused while you read' : 'Live';
  }
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
