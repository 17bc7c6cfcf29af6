import type { Diagnostic } from '../diagnostics.ts';
import type { Lexeme } from './lexeme.ts';

/** What the parse functions share: the tokens, and how far they have been read. */
export interface Cursor {
  readonly text: string;
  readonly lexemes: readonly Lexeme[];
  readonly report: (diagnostic: Diagnostic) => void;
  at: number;
}

export function peek(cursor: Cursor): Lexeme | undefined {
  return cursor.lexemes[cursor.at];
}
