import { error } from '../../diagnostics.ts';
import { isSpace } from '../characters.ts';
import { cutting } from '../cut.ts';
import type { LeafRule } from './rule.ts';

/** Quotes with nothing but space between them. A value that is missing altogether is found by the lexer. */
export const emptyPhrase: LeafRule = (leaf, view) => {
  const [start, end] = leaf.valueSpan;
  for (let at = start; at < end; at += 1) if (!isSpace(view.text.charCodeAt(at))) return;
  if (!/["'“”„‟«»]/.test(view.text.charAt(start - 1))) return;
  const message = 'These quotes hold nothing. Write the words between them.';
  const fix = cutting('Remove it', view.text, leaf.span);
  view.report(error('empty_phrase', message, leaf.span, [fix]));
};
