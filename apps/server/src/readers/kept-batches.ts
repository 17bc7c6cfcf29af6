import type { Match } from '@earshot/contract';
import type { FollowedMatch } from './to-match.ts';

/** What one look at the log brought, by who waits for it. */
export interface Batch {
  /** The last position that was looked at. */
  readonly through: number;
  readonly byKey: ReadonlyMap<string, FollowedMatch[]>;
  readonly matches: number;
  readonly characters: number;
}

export interface Take {
  readonly limit: number;
  readonly accepts: (match: Match) => boolean;
}

export interface Taken {
  readonly matches: FollowedMatch[];
  /** The position that this reaches. */
  readonly through: number;
}

export interface KeptBatches {
  through(): number;
  /** Forgets everything before this position. */
  restart(position: number): void;
  add(batch: Batch): void;
  /** What came behind a position; null when that was too long ago. */
  after(key: string, position: number, take: Take): Taken | null;
}

/** What was read lately, oldest batch first; the oldest ones go when it is too much. */
export function createKeptBatches(
  start: number,
  { matchesMax = 20_000, charactersMax = 64e6 }: { matchesMax?: number; charactersMax?: number },
): KeptBatches {
  let batches: Batch[] = [];
  /** Where the oldest one begins. */
  let from = start;
  const total = { matches: 0, characters: 0 };
  const count = (batch: Batch, sign: 1 | -1) => {
    total.matches += sign * batch.matches;
    total.characters += sign * batch.characters;
  };
  const through = () => batches.at(-1)?.through ?? from;
  return {
    through,
    restart(position) {
      for (const batch of batches) count(batch, -1);
      batches = [];
      from = position;
    },
    add(batch) {
      const newest = batches.at(-1);
      if (batch.matches > 0) batches.push(batch);
      else if (newest) batches[batches.length - 1] = { ...newest, through: batch.through };
      else from = batch.through;
      count(batch, 1);
      while (total.matches > matchesMax || total.characters > charactersMax) {
        const oldest = batches.shift();
        if (!oldest) return;
        count(oldest, -1);
        from = oldest.through;
      }
    },
    after(key, position, { limit, accepts }) {
      if (position < from) return null;
      const matches: FollowedMatch[] = [];
      const first = batches.findLastIndex((batch) => batch.through <= position) + 1;
      for (const batch of batches.slice(first)) {
        for (const one of batch.byKey.get(key) ?? []) {
          if (one.position <= position || !accepts(one.match)) continue;
          matches.push(one);
          if (matches.length === limit) return { matches, through: one.position };
        }
      }
      return { matches, through: Math.max(position, through()) };
    },
  };
}
