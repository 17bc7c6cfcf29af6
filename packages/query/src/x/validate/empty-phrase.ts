import { replacement } from '../../diagnostics.ts';
import { isSpace } from '../characters.ts';
import { clauseWithSpace } from '../cut.ts';
import type { LeafRule } from './rule.ts';

/** Quotes with nothing but space between them. A value that is missing altogether is found by the lexer. */
export const emptyPhrase: LeafRule = (leaf, place) => {
  const [start, end] = leaf.valueSpan;
  for (let at = start; at < end; at += 1) if (!isSpace(place.text.charCodeAt(at))) return;
  if (!/["'“”„‟«»]/.test(place.text.charAt(start - 1))) return;
  place.report({
    severity: 'error',
    code: 'empty_phrase',
    message: 'These quotes hold nothing. Write the words between them.',
    span: leaf.span,
    fixes: [replacement('Remove it', clauseWithSpace(place.text, leaf.span), '')],
  });
};
