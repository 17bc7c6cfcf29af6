import type { Disconnected, receivingState } from '../../api/disconnected.ts';
import { formatTime } from '../../parts/format.ts';
import { platformNames } from '../../parts/platforms.ts';

export type Connection = 'connecting' | 'live' | 'reconnecting' | 'crowded' | 'none';

export interface LiveFacts {
  readonly connection: Connection;
  readonly isPaused: boolean;
  /** The platforms from which the rules of the feed receive nothing. */
  readonly disconnected: readonly Disconnected[];
  /** Whether any of these rules is received; null while they load. */
  readonly receiving: ReturnType<typeof receivingState> | null;
  readonly now?: Date;
}

/** Describes whether the feed is live. It is not while Earshot does not receive from a platform of its rules. */
export function describeLive({
  connection,
  isPaused,
  disconnected,
  receiving,
  now = new Date(),
}: LiveFacts): {
  readonly state: Connection | 'paused' | 'down';
  readonly words: string;
} {
  switch (connection) {
    case 'connecting':
      return { state: connection, words: 'Connecting …' };
    case 'reconnecting':
      return { state: connection, words: 'Connection lost. Reconnecting …' };
    case 'crowded':
      return {
        state: connection,
        words: 'Not live: the key has reached its limit of open streams. Close another tab.',
      };
    case 'none':
      return { state: connection, words: 'Past matches' };
    case 'live':
      if (disconnected.length > 0)
        return { state: 'down', words: disconnected.map((one) => downWords(one, now)).join('. ') };
      if (receiving === null) return { state: 'connecting', words: 'Connecting …' };
      if (receiving === 'none') return { state: 'none', words: 'Not receiving: no rule is active' };
      if (receiving === 'starting') return { state: 'connecting', words: 'Starting …' };
      return isPaused
        ? { state: 'paused', words: 'Paused while you read' }
        : { state: 'live', words: 'Live' };
  }
}

function downWords({ platform, since }: Disconnected, now: Date): string {
  return `${platformNames[platform]}: not receiving${since === null ? '' : ` since ${formatTime(since, now)}`}`;
}
