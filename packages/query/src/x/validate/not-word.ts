import { certain, replacement, suspicious } from '../../diagnostics.ts';
import { isSpace } from '../characters.ts';
import { type LeafRule, source } from './rule.ts';

/** `NOT` is not documented on X; it is read as a word. */
export const notWord: LeafRule = (leaf, view, negation) => {
  if (leaf.test.type !== 'term' || leaf.test.value !== 'not' || source(view, leaf) !== 'NOT') return;
  let next = leaf.span[1];
  while (next < view.text.length && isSpace(view.text.charCodeAt(next))) next += 1;
  const negates =
    negation === null &&
    next > leaf.span[1] &&
    next < view.text.length &&
    !'-)'.includes(view.text.charAt(next));
  const message = 'NOT is searched as a word here. X excludes with a dash that touches the clause: -word.';
  const [start] = leaf.span;
  const but = /(?<=\s)but\s+$/i.exec(view.text.slice(0, start));
  const fixes = negates ? [certain(replacement('Use a dash', [but?.index ?? start, next], '-'))] : [];
  view.report(suspicious('not_is_a_word', message, leaf.span, fixes));
};
