import type { StreamEvent } from '../upstream/item.ts';
import type { Holder, NewMatch } from './match-events.ts';

export interface MatchStore {
  holdersOf(references: {
    slotIds: readonly string[];
    upstreamRules: ReadonlyArray<{ sourceId: string; upstreamRuleId: string }>;
  }): Promise<Holder[]>;
  /** Sources on which a registration is under way: an unknown rule id there may soon be known. */
  sourcesRegistering(sourceIds: readonly string[]): Promise<Set<string>>;
  /** The days for which there are partitions. */
  days(): Promise<ReadonlySet<string>>;
  /** Makes partitions for those of the days that are not too old to be kept nor too far ahead to be true. */
  makeDays(days: readonly string[]): Promise<void>;
  /** One transaction; returns how many matches were new, per platform. `settled` are the log's sequences. */
  write(
    posts: readonly StreamEvent[],
    matches: readonly NewMatch[],
    settled: readonly number[],
  ): Promise<Record<string, number>>;
  /** Keeps an event that cannot be stored, and settles it, in one transaction. */
  bury(letter: DeadLetter): Promise<void>;
}

export interface DeadLetter {
  readonly sequence: number;
  readonly body: string;
  readonly error: string;
  readonly deliveries: number;
}
