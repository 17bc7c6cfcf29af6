import type { Span } from '../ast.ts';
import { isSpace } from './characters.ts';

/** The clause with the spaces that would be left over when it is cut out. */
export function clauseWithSpace(text: string, span: Span): Span {
  let [start, end] = span;
  while (end < text.length && isSpace(text.charCodeAt(end))) end += 1;
  if (end === text.length) while (start > 0 && isSpace(text.charCodeAt(start - 1))) start -= 1;
  return [start, end];
}
