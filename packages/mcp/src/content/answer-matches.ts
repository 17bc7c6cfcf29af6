import type { Answers } from '@earshot/sdk';

type ListAnswer = Answers['ListMatches'];

/** One page of matches, as `listMatches` (`next_cursor`) or `readMatches` (`cursor`) answers it. */
export interface MatchPage {
  readonly matches: ListAnswer['matches'];
  /** Continues behind, or acknowledges, the last match of this page. */
  readonly cursor: string | null;
  readonly coverage: ListAnswer['coverage'];
}

export interface AnswerOptions {
  /** Bounds the tokens of the result as it goes over the wire: text and structured content together. */
  readonly maxTokens: number;
  /** Ids of matches whose whole text, up to 4,000 characters, goes before more of the others. */
  readonly expand?: readonly string[] | undefined;
  /** What the tool itself has to say: it comes first and counts. Never words of strangers. */
  readonly own?: { readonly fields: Readonly<Record<string, unknown>>; readonly lines: readonly string[] };
  /** What the cursor is called in this tool's answer. */
  readonly cursorField: 'next_cursor' | 'ack';
}

export interface AnswerMatchesOptions extends MatchPage, AnswerOptions {
  /** A new one per answer: `newNonce()`. */
  readonly nonce: string;
  /** How many matches a first reading of this page had, when this one was asked for with less. */
  readonly found?: number;
}

export interface MatchesAnswer {
  readonly structuredContent: Record<string, unknown>;
  readonly text: string;
  /** The first so many of the page; when that is not all of them, the answer has no cursor. */
  readonly shown: number;
}

/** Matches as a tool result: fenced, bounded, counts first. */
export function answerMatches(_options: AnswerMatchesOptions): MatchesAnswer {
  throw new Error('not written yet');
}
