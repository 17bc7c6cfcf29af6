import type { LeafNode, Span } from '../../ast.ts';
import { certain, error, type Fix, replacement, suspicious } from '../../diagnostics.ts';
import { nearFix } from '../../near.ts';
import { slopMax } from '../tables.ts';
import { type LeafRule, source, type View } from './rule.ts';

const form = '"one two"~5';

/** "a b"~N with N from 1 to 6. */
export const proximity: LeafRule = (leaf, view) => {
  if (leaf.test.type === 'term') return nearWord(leaf, view);
  if (leaf.test.type !== 'phrase') return;
  const tilde = leaf.valueSpan[1] + (view.text.startsWith('\\', leaf.valueSpan[1]) ? 2 : 1);
  if (view.text[tilde] !== '~') return;
  let end = tilde + 1;
  while (end < view.text.length && /\d/.test(view.text.charAt(end))) end += 1;
  if (leaf.test.words.length < 2) {
    const message = `Distance is between the words of one pair of quotes: ${form}. Here it has no effect.`;
    const fixes = joined(leaf, [tilde, end], view);
    view.report(suspicious('bad_proximity', message, [tilde, end], fixes));
  }
  if (leaf.test.slop >= 1 && leaf.test.slop <= slopMax) return;
  const tooFar = leaf.test.slop > slopMax;
  const message = `Write a number from 1 to ${slopMax} after ~: the most tokens that may be between the words.`;
  const fix = tooFar
    ? replacement(`Use ~${slopMax}`, [tilde, end], `~${slopMax}`)
    : replacement('Remove ~', [tilde, end], '');
  view.report(error('bad_proximity', message, [tilde, end], [fix]));
};

/** `NEAR` as other search engines write it; `NEAR/5` is reported as punctuation. */
function nearWord(leaf: LeafNode, view: View): void {
  if (leaf.test.type !== 'term' || leaf.test.value !== 'near' || source(view, leaf) !== 'NEAR') return;
  const message = `NEAR is searched as a word here. X writes distance as ${form}.`;
  view.report(suspicious('foreign_syntax', message, leaf.span, nearFix(leaf.span, 5, view.text)));
}

/** How far a fix looks back. */
const lookLength = 60;

/** `"acme" "price"~3` was probably meant as `"acme price"~3`. */
function joined(leaf: LeafNode, written: Span, { text }: View): Fix[] {
  const from = Math.max(0, leaf.span[0] - lookLength);
  const left = /"([^"]*)"\s+$/.exec(text.slice(from, leaf.span[0]));
  if (left === null) return [replacement('Remove ~', written, '')];
  const inner = `${left[1]} ${text.slice(...leaf.valueSpan)}`;
  const phrase = `"${inner}"${text.slice(...written)}`;
  return [replacement(`Write ${phrase}`, [from + left.index, written[1]], phrase)];
}

/** `"a b" ~5`: a space before the sign. Null if no phrase precedes it. */
export function spacedSlop(span: Span, { text }: View): Fix[] | null {
  const from = Math.max(0, span[0] - lookLength);
  const before = text.slice(from, span[0]);
  const phrase = /"([^"]*)"(\s+)$/.exec(before);
  if (phrase === null) return null;
  const fix = replacement('Remove the space', [span[0] - (phrase[2] ?? '').length, span[0]], '');
  return [/\S\s+\S/.test(phrase[1] ?? '') ? certain(fix) : fix];
}
