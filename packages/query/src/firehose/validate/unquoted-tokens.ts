import { certain, replace, suspicious } from '../../diagnostics.ts';
import { quote } from '../escape.ts';
import { fields } from '../tables.ts';
import { wordsOf } from '../tokenize.ts';
import { type PlacedAtom, source, type View } from './rule.ts';

/** `10-K` is read as an OR of two words; likewise the characters of Chinese or Japanese. */
export function unquotedTokens({ atom, field }: PlacedAtom, view: View): void {
  if (atom.kind !== 'term' || atom.slop !== null || fields.get(field)?.type !== 'text') return;
  const words = wordsOf(atom.value);
  // Other rules report typographic quotes and filters.
  if (words.length < 2 || /[“”„«»]|^\$[A-Za-z]|\\[tnr]/.test(source(view, atom.span))) return;
  const message = `Without quotes this matches any one of its parts: ${words.slice(0, 4).join(' or ')}. Quote it to search for the whole.`;
  const fix = certain(replace('Quote it', atom.span, quote(atom.value)));
  view.report(suspicious('unquoted_tokens', message, atom.span, [fix]));
}
