import type { Match } from '@earshot/contract';
import { type FollowedMatch, jsonOf } from './to-match.ts';

/** What is taken at once ends with this, however many matches were asked for; it has one at least. */
const takenCharactersMax = 1024 * 1024;

/** What one read of the log returned, by who waits for it. */
export interface TailBatch {
  /** The last position that was read. */
  readonly through: number;
  readonly byKey: ReadonlyMap<string, FollowedMatch[]>;
  readonly matches: number;
  readonly characters: number;
}

export interface Take {
  readonly limit: number;
  readonly accepts: (match: Match) => boolean;
}

interface Taken {
  readonly matches: FollowedMatch[];
  /** Everything up to this position was looked at. */
  readonly through: number;
}

/** What was read lately, oldest batch first; the oldest ones are dropped when the bounds are exceeded. */
export function createKeptBatches(
  start: number,
  { matchesMax = 20_000, charactersMax = 64e6 }: { matchesMax?: number; charactersMax?: number },
) {
  let batches: TailBatch[] = [];
  /** Where the oldest batch begins. */
  let from = start;
  const total = { matches: 0, characters: 0 };
  const count = (batch: TailBatch, sign: 1 | -1) => {
    total.matches += sign * batch.matches;
    total.characters += sign * batch.characters;
  };
  const through = () => batches.at(-1)?.through ?? from;
  return {
    through,
    /** Forgets everything before this position. */
    restart(position: number): void {
      for (const batch of batches) count(batch, -1);
      batches = [];
      from = position;
    },
    add(batch: TailBatch): void {
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
    /** What came after a position; null when that is no longer kept. */
    after(key: string, position: number, { limit, accepts }: Take): Taken | null {
      if (position < from) return null;
      const matches: FollowedMatch[] = [];
      let characters = 0;
      const first = batches.findLastIndex((batch) => batch.through <= position) + 1;
      for (const batch of batches.slice(first)) {
        for (const one of batch.byKey.get(key) ?? []) {
          if (one.position <= position || !accepts(one.match)) continue;
          characters += jsonOf(one.match).length;
          const last = matches.at(-1);
          if (last && (matches.length === limit || characters > takenCharactersMax))
            return { matches, through: last.position };
          matches.push(one);
        }
      }
      return { matches, through: Math.max(position, through()) };
    },
  };
}
