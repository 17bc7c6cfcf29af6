import { type AnswerOptions, answerMatches, type MatchesAnswer, type MatchPage } from './answer-matches.ts';
import { newNonce } from './fence.ts';

export interface AnswerPageOptions extends AnswerOptions {
  /** Reads the page with at most this many matches. Only the first call may wait. */
  readonly read: (limit: number) => Promise<MatchPage>;
  readonly limit: number;
}

/**
 * Only the server can create a cursor, and only for the end of a page. If a page does not fit, it is read again with as many
 * matches as fit, so that its cursor points behind the last match shown. If newer matches have arrived in the meantime, the
 * second read is shown.
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
