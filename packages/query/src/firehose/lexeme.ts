import type { RangeBounds } from './surface.ts';

export type LexemeKind =
  | 'and'
  | 'or'
  | 'not'
  | 'plus'
  | 'minus'
  | 'lone_sign'
  | 'open'
  | 'close'
  | 'colon'
  | 'quoted'
  | 'term'
  | 'prefix'
  | 'wildcard'
  | 'regex'
  | 'range'
  | 'slop'
  | 'boost'
  /** Unreadable and already reported; counts as a clause, so that its neighbours are not reported as well. */
  | 'broken';

export interface Lexeme {
  readonly kind: LexemeKind;
  readonly start: number;
  readonly end: number;
  readonly range?: RangeBounds;
}
