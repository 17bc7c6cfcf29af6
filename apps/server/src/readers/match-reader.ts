import type { MatchPayload, Platform } from '@earshot/contract';

/** Reads the match log of one account. */
export interface MatchReader {
  read(query: MatchQuery): Promise<StoredMatch[]>;
  /** The last position that retention has removed of such matches; 0 when there is none. */
  removedThrough(query: Pick<MatchQuery, 'accountId' | 'ruleId' | 'platform'>): Promise<number>;
}

export interface MatchQuery {
  readonly accountId: string;
  readonly ruleId: string | null;
  readonly platform: Platform | null;
  readonly since: Date | null;
  readonly until: Date | null;
  readonly order: 'newest' | 'oldest';
  /** Exclusive: continue behind this position, in the direction of `order`. */
  readonly from: number | null;
  readonly limit: number;
}

export interface StoredMatch {
  readonly position: number;
  readonly ruleId: string;
  readonly ruleVersion: number;
  /** What was registered on the platform when it matched. */
  readonly ruleValue: string;
  readonly createdAt: Date;
  readonly platform: Platform;
  readonly platformPostId: string;
  readonly via: 'stream' | 'search';
  readonly payload: MatchPayload;
}
