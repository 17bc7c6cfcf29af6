import { type Fix, replace, suspicious } from '../../diagnostics.ts';
import { quoted } from '../../text.ts';
import { quote } from '../escape.ts';
import { fields } from '../tables.ts';
import { wordsOf } from '../tokenize.ts';
import { isPlainValue, type PlacedAtom, type View } from './rule.ts';

/** Signs that distinguish words: `C++`, `C#`, `.NET`, `#topic`, `@account`, emoji. */
const distinctive = /[+#@]|^\.|\p{Extended_Pictographic}/u;

/** Text analysis keeps letters and digits only, so `C++` finds every page with a c. */
export function droppedSigns(placed: PlacedAtom, view: View): void {
  const { atom, field } = placed;
  if (!isPlainValue(placed) || fields.get(field)?.type !== 'text') return;
  const value = atom.value.trim();
  const [word, more] = wordsOf(value);
  if (word === undefined || more !== undefined || value.length === word.length || !distinctive.test(value))
    return;
  const fixes: Fix[] = /^[#@]/.test(value) ? [replace(`Write ${quote(word)}`, atom.span, quote(word))] : [];
  const message = `Signs are not indexed: ${quoted(value, 40)} finds the word ${quoted(word, 40)}. Add words that distinguish it.`;
  view.report(suspicious('dropped_signs', message, atom.span, fixes));
}
