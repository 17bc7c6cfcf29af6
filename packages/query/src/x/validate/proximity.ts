import { error, replacement } from '../../diagnostics.ts';
import { slopMax } from '../tables.ts';
import type { LeafRule } from './rule.ts';

/** "a b"~N with N from 1 to 6. */
export const proximity: LeafRule = (leaf, view) => {
  if (leaf.test.type !== 'phrase') return;
  const tilde = leaf.valueSpan[1] + (view.text.startsWith('\\', leaf.valueSpan[1]) ? 2 : 1);
  const written = view.text[tilde] === '~';
  if (!written || (leaf.test.slop >= 1 && leaf.test.slop <= slopMax)) return;
  let end = tilde + 1;
  while (end < view.text.length && /\d/.test(view.text.charAt(end))) end += 1;
  const tooFar = leaf.test.slop > slopMax;
  const message = `Write a number from 1 to ${slopMax} after ~: the most tokens that may be between the words.`;
  const fix = tooFar
    ? replacement(`Use ~${slopMax}`, [tilde, end], `~${slopMax}`)
    : replacement('Remove ~', [tilde, end], '');
  view.report(error('bad_proximity', message, [tilde, end], [fix]));
};
