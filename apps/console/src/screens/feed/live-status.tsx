import { useEffect, useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { formatCount } from '../../parts/format.ts';
import styles from './feed.module.css';
import type { Connection } from './use-feed.ts';

const announceMs = 2_000;

/** Whether the list moves, and how much waits. */
export function LiveStatus({
  connection,
  isAway,
  freshCount,
  onShowNew,
}: {
  connection: Connection;
  isAway: boolean;
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
      <span className={styles.state} data-state={isAway && connection === 'live' ? 'paused' : connection}>
        {words(connection, isAway)}
      </span>
      <output className={styles.unseen}>
        {announced > 0 ? `${formatCount(announced)} new matches` : ''}
      </output>
    </div>
  );
}

function words(connection: Connection, isAway: boolean): string {
  switch (connection) {
    case 'connecting':
      return 'Connecting …';
    case 'reconnecting':
      return 'Connection lost, trying again …';
    case 'crowded':
      return 'Not live: the key has as many streams open as it may. Close another tab.';
    case 'none':
      return 'A time in the past';
    case 'live':
      return isAway ? 'Paused while you read' : 'Live';
  }
}

/** The value once it has not changed for a while: a screen reader must not be told of every match. */
function useSettled(value: number, ms: number): number {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
