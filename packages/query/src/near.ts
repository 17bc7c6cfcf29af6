import type { Span } from './ast.ts';
import { type Fix, replacement } from './diagnostics.ts';

const quotedOrWord = String.raw`(?:"([^"]*)"|([\p{L}\p{N}]+))`;
const before = new RegExp(String.raw`(?<!\S)${quotedOrWord}\s+$`, 'u');
const after = new RegExp(String.raw`^\s+${quotedOrWord}(?![\p{L}\p{N}])`, 'u');

/** How far a fix looks on each side of a word. */
const lookLength = 60;

/** For `a NEAR b`, as other search engines write it: `"a b"~N`. */
export function nearFix(span: Span, distance: number, text: string): Fix[] {
  const from = Math.max(0, span[0] - lookLength);
  const left = before.exec(text.slice(from, span[0]));
  const right = after.exec(text.slice(span[1], span[1] + lookLength));
  if (left === null || right === null) return [];
  const words = [left[1] ?? left[2] ?? '', right[1] ?? right[2] ?? ''].join(' ');
  const phrase = `"${words}"~${distance}`;
  return [replacement(`Write ${phrase}`, [from + left.index, span[1] + right[0].length], phrase)];
}
