import { replace, suspicious } from '../../diagnostics.ts';
import { quoted } from '../../text.ts';
import { quote } from '../escape.ts';
import { fields } from '../tables.ts';
import { isStopWord, wordsOf } from '../tokenize.ts';
import type { PlacedAtom, View } from './rule.ts';

/** Without these a phrase may say the opposite. */
const negations: ReadonlySet<string> = new Set(['no', 'not']);

/** A phrase loses its stop words: `"is down"` finds `down`, and `"not available"` also `now available`. */
export function stopWords(placed: PlacedAtom, view: View): void {
  const { atom, clause, field } = placed;
  if (atom.kind !== 'quoted' || fields.get(field)?.stopWords !== true) return;
  const words = wordsOf(atom.value);
  const lost = words.filter(isStopWord);
  const kept = words.filter((word) => !isStopWord(word));
  const isOpposite = lost.some((word) => negations.has(word));
  if (lost.length === 0 || kept.length === 0 || (kept.length > 1 && !isOpposite)) return;
  const message = `${quoted(lost.join(' '), 40)} is not indexed in \`${field}\`: this finds ${quoted(kept.join(' '), 40)}. \`title:\` keeps every word; or add a word that distinguishes the phrase.`;
  const inTitle = replace(
    `Search titles for ${quote(atom.value)}`,
    clause.span,
    `title:${quote(atom.value)}`,
  );
  const rest = replace(`Search for ${quote(kept.join(' '))}`, atom.span, quote(kept.join(' ')));
  const fixes = field === 'added' ? [inTitle, rest] : [rest];
  view.report(suspicious('stop_words', message, atom.span, fixes));
}
