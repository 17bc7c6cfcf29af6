import type { StreamEvent } from '../ingest/stream-event.ts';
import type { Holder, NewMatch } from './match-events.ts';

export interface MatchStore {
  holdersOf(references: {
    slotIds: readonly string[];
    upstreamRules: ReadonlyArray<{ sourceId: string; upstreamRuleId: string }>;
  }): Promise<Holder[]>;
  /** Sources on which a registration is under way: an unknown rule id there may soon be known. */
  sourcesRegistering(sourceIds: readonly string[]): Promise<Set<string>>;
  /** First and last day for which there are partitions. */
  days(): Promise<{ first: string; last: string }>;
  /** One transaction; returns how many matches were new, per platform. */
  write(posts: readonly StreamEvent[], matches: readonly NewMatch[]): Promise<Record<string, number>>;
}
