import { widthOf } from './printable.ts';

interface Span {
  readonly start: number;
  readonly end: number;
}

/** What is shown before the span of a text that is too long for a line. */
const columnsBefore = 30;

/** The text on one line, and carets under the span below it. Each offset is a UTF-16 code unit, as in the API. */
export function underline(text: string, span: Span, columns: number): [string, string] {
  const before = visible(text.slice(0, span.start));
  const within = visible(text.slice(span.start, span.end));
  const after = visible(text.slice(span.end));
  const carets = '^'.repeat(Math.max(1, Math.min(widthOf(within), columns)));
  if (widthOf(before + within + after) <= columns) {
    return [before + within + after, ' '.repeat(widthOf(before)) + carets];
  }
  const kept = Array.from(before).slice(-columnsBefore).join('');
  const begin = kept === before ? before : `…${kept}`;
  const room = columns - widthOf(begin) - 1;
  const rest = Array.from(within + after);
  const end = rest.length <= room ? rest.join('') : `${rest.slice(0, Math.max(1, room)).join('')}…`;
  return [begin + end, ' '.repeat(widthOf(begin)) + carets.slice(0, Math.max(1, room))];
}

/** One character for each, so that the carets stay below what they mean. */
function visible(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu, '·');
}

/** As a POSIX shell reads it back. */
export function shellQuoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
