import type { MatchPayload } from '@earshot/contract';
import { createTurns } from '../runtime/concurrency.ts';
import type { MatchQuery } from './match-days.sql.ts';
import type { MatchReader, StoredMatch } from './match-reader.sql.ts';

/** The most matches that one request searches. There is no index of texts: few requests search, and every match would pay for it. */
const searchedMax = 5_000;
const pageSize = 500;

export interface FoundMatches {
  readonly matches: readonly StoredMatch[];
  /** False if all matches were searched. */
  readonly more: boolean;
  /** Position of the last match that was searched; null if there was none. */
  readonly through: number | null;
}

/** The newest matches whose item contains all words. There may be fewer than requested although there are more: see `more`. */
export async function searchMatches(
  read: MatchReader['read'],
  query: MatchQuery,
  text: string,
): Promise<FoundMatches> {
  const words = wordsOf(text);
  const nextTurn = createTurns();
  const matches: StoredMatch[] = [];
  let through = query.from;
  for (let searched = 0; searched < searchedMax; ) {
    const page = await read({ ...query, limit: pageSize, from: through });
    for (const match of page.matches) {
      await nextTurn();
      through = match.position;
      if (hasWords(match.payload, words)) matches.push(match);
      if (matches.length === query.limit) return { matches, more: true, through };
    }
    searched += page.matches.length;
    if (!page.more) return { matches, more: false, through };
  }
  return { matches, more: true, through };
}

export function hasWords({ text, title, url, author }: MatchPayload, words: readonly string[]): boolean {
  const searched = fold([title, text, url, author?.handle, author?.name].join('\n'));
  return words.every((word) => searched.includes(word));
}

export const wordsOf = (text: string) => fold(text).split(/\s+/).filter(Boolean);

const fold = (text: string) => text.normalize('NFKC').toLowerCase();
