import { certain, replace, suspicious } from '../../diagnostics.ts';
import { quote } from '../escape.ts';
import { fields } from '../tables.ts';
import { wordsOf } from '../tokenize.ts';
import { comparisonOf } from './comparison.ts';
import { eitherOf, listItems, type PlacedAtom, source, type View } from './rule.ts';

/** `10-K` is read as an OR of two words; likewise the characters of Chinese or Japanese. */
export function unquotedTokens(placed: PlacedAtom, view: View): void {
  const { atom, field } = placed;
  if (atom.kind !== 'term' || atom.slop !== null || fields.get(field)?.type !== 'text') return;
  const words = wordsOf(atom.value);
  // Other rules report typographic quotes, filters and comparisons.
  if (
    words.length < 2 ||
    comparisonOf(placed) !== null ||
    /[“”„«»]|^\$[A-Za-z]|\\[tnr]/.test(source(view, atom.span))
  )
    return;
  const message = `Without quotes this matches any one of its parts: ${words.slice(0, 4).join(' or ')}. Quote it to search for the whole.`;
  const whole = replace('Quote it', atom.span, quote(atom.value));
  const items = listItems(atom.value);
  const fixes = items === null ? [certain(whole)] : [eitherOf(items, atom.span), whole];
  view.report(suspicious('unquoted_tokens', message, atom.span, fixes));
}
