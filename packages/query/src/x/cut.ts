import type { Span } from '../ast.ts';
import { type Fix, replacement } from '../diagnostics.ts';
import { isSpace } from './characters.ts';

/** Removes a clause with the spaces that would be left over. */
export function cutting(title: string, text: string, span: Span): Fix {
  let [start, end] = span;
  while (end < text.length && isSpace(text.charCodeAt(end))) end += 1;
  if (end === text.length) while (start > 0 && isSpace(text.charCodeAt(start - 1))) start -= 1;
  return replacement(title, [start, end], '');
}
