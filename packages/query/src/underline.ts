import type { Span } from './ast.ts';

const zeroWidth = /^[\p{Mn}\p{Me}]$/u;
const doubleWidth =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}])$/u;

/** Columns of a terminal: combining marks take none, wide East Asian characters and emoji take two. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) {
    if (!zeroWidth.test(character)) width += doubleWidth.test(character) ? 2 : 1;
  }
  return width;
}

/** What is shown before the span of a text that is too long for a line; more where little comes after it. */
const charactersBefore = 30;

/** The text on one line of at most so many columns, and carets under the span below it. */
export function underline(text: string, [start, end]: Span, columns: number): [string, string] {
  const before = visible(text.slice(0, start));
  const within = visible(text.slice(start, end));
  const after = visible(text.slice(end));
  const carets = '^'.repeat(Math.max(1, Math.min(widthOf(within), columns)));
  if (widthOf(before + within + after) <= columns) {
    return [before + within + after, ' '.repeat(widthOf(before)) + carets];
  }
  const spare = columns - 2 - widthOf(within + after);
  const kept = Array.from(before).slice(-Math.max(charactersBefore, spare)).join('');
  const begin = kept === before ? before : `…${kept}`;
  const room = columns - widthOf(begin) - 1;
  const rest = Array.from(within + after);
  const shown = rest.length <= room ? rest.join('') : `${rest.slice(0, Math.max(1, room)).join('')}…`;
  return [begin + shown, ' '.repeat(widthOf(begin)) + carets.slice(0, Math.max(1, room))];
}

/** One character for each, so that the carets stay below what they mean. */
function visible(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu, '·');
}
