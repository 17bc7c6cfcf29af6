import { warning } from '../../diagnostics.ts';
import { quoted } from '../../text.ts';
import { fields } from '../tables.ts';
import { isStopWord, wordsOf } from '../tokenize.ts';
import type { PlacedAtom, View } from './rule.ts';

/** Stop words are not indexed, so `"in stock"` also finds `out of stock`. */
export function shrunkPhrase({ atom, field }: PlacedAtom, view: View): void {
  if (fields.get(field)?.stopWords !== true) return;
  const words = wordsOf(atom.value);
  const [kept, more] = words.filter((word) => !isStopWord(word));
  if (words.length < 2 || kept === undefined || more !== undefined) return;
  const message = `Stop words are not indexed: ${quoted(atom.value, 40)} finds every ${quoted(kept, 40)}. Add a distinctive word. Only \`title:\` keeps stop words.`;
  view.report(warning('shrunk_phrase', message, atom.span));
}
