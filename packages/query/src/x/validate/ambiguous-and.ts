import { certain, error, replacement } from '../../diagnostics.ts';
import { cutting } from '../cut.ts';
import { type LeafRule, phraseAround, source } from './rule.ts';

/** X refuses the bare word `and` in any letter case: a space already joins two clauses (x.md §10.1). */
export const ambiguousAnd: LeafRule = (leaf, view, negation) => {
  if (leaf.test.type !== 'term' || leaf.test.value !== 'and') return;
  const word = source(view, leaf).replaceAll(/[()\s]/g, '');
  const quote = replacement('Quote it to find the word', leaf.valueSpan, `"${word}"`);
  const cut = cutting(`Remove ${word}`, view.text, leaf.span);
  const phrase = word === 'AND' ? null : phraseAround(leaf.span, view.text);
  const removals = phrase === null ? [certain(cut)] : [cut, phrase];
  const message = `X has no ${word}: a space between two clauses already means that both must match.`;
  view.report(error('ambiguous_and', message, leaf.span, negation === null ? [...removals, quote] : [quote]));
};
