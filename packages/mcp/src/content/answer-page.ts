import { type AnswerOptions, answerMatches, type MatchesAnswer, type MatchPage } from './answer-matches.ts';
import { newNonce } from './nonce.ts';

export interface AnswerPageOptions extends AnswerOptions {
  /** Asks for the same page with at most so many matches; called again, it must not wait. */
  readonly read: (limit: number) => Promise<MatchPage>;
  readonly limit: number;
}

/**
 * Only the server can make a cursor, and it makes one for the end of a page. So a page of which only the beginning
 * fits is read again with as many as fit: then its cursor is the place behind the last match that is shown. Should
 * the second reading differ, because newer matches came, then it is the one that is shown.
 */
export async function answerPage({ read, limit, ...options }: AnswerPageOptions): Promise<MatchesAnswer> {
  let page = await read(limit);
  const found = page.matches.length;
  for (;;) {
    const answer = answerMatches({ ...options, ...page, found, nonce: newNonce() });
    if (answer.shown === page.matches.length) return answer;
    page = await read(answer.shown);
  }
}
