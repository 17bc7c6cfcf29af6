import type { Diagnostic } from '../diagnostics.ts';
import type { Lexeme } from './lexeme.ts';

/** The parser's state: the tokens and the index of the next one. */
export interface Cursor {
  readonly text: string;
  readonly lexemes: readonly Lexeme[];
  readonly report: (diagnostic: Diagnostic) => void;
  at: number;
}

export function peek(cursor: Cursor): Lexeme | undefined {
  return cursor.lexemes[cursor.at];
}
