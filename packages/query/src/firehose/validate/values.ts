import { certain, type Edit, error, type Fix, replace, suspicious, warning } from '../../diagnostics.ts';
import { quoted } from '../../text.ts';
import { quote } from '../escape.ts';
import type { Atom } from '../surface.ts';
import { fields } from '../tables.ts';
import { isStopWord, wordsOf } from '../tokenize.ts';
import { comparisonOf } from './ranges.ts';
import {
  eitherOf,
  isForeignOperator,
  isOperatorWord,
  isPlainValue,
  listItems,
  type PlacedAtom,
  removal,
  source,
  type View,
} from './rule.ts';

export function boost(view: View): void {
  for (const { clause } of view.clauses) {
    const span = clause.body.boost;
    if (span === null) continue;
    const message = 'A boost changes the order of search results; here it has no effect.';
    view.report(warning('boost', message, span, [certain(replace('Remove it', span, ''))]));
  }
}

export function emptyPhrase(placed: PlacedAtom, view: View): void {
  if (!isEmptyPhrase(placed.atom)) return;
  view.report(
    error('empty_phrase', 'There is nothing between these quotes.', placed.clause.span, removal(placed)),
  );
}

/** Other blanks, such as a no-break space, are characters to Lucene. */
export function isEmptyPhrase({ kind, value }: Atom): boolean {
  return kind === 'quoted' && /^[ \t\r\n]*$/.test(value);
}

/** `\t` and `\n` from JSON source: a backslash makes the next letter literal, so `AND\tfoo` is one word. */
export function escapedSpace({ atom }: PlacedAtom, view: View): void {
  if (atom.kind !== 'term') return;
  const written = source(view, atom.span);
  const found = /(?:^|[^\\])(\\[tnr])/.exec(written)?.[1];
  if (found === undefined) return;
  const message = `\`${found}\` is the letter ${found.charAt(1)} here, not a space.`;
  const fix = certain(replace('Write a space', atom.span, written.replaceAll(/(?<!\\)\\[tnr]/g, ' ')));
  view.report(suspicious('escaped_space', message, atom.span, [fix]));
}

/** Named filters live in the platform's dashboard; their text cannot be read through its interface. */
export function filterReference(placed: PlacedAtom, view: View): void {
  const { atom, clause } = placed;
  if (!atom.value.startsWith('$') || atom.kind !== 'term' || clause.field !== null) return;
  if (!/^\$[A-Za-z][\w-]*$/.test(atom.value)) return;
  const message = `The filter ${quoted(atom.value)} is not known here. Write its clauses into the rule; for a ticker search its letters.`;
  const ticker = /^\$([A-Z]{1,6})$/.exec(atom.value)?.[1];
  const word = ticker === undefined ? [] : [replace(`Search for "${ticker}"`, atom.span, `"${ticker}"`)];
  const fixes = [...word, ...removal(placed, 'Remove the filter')];
  view.report(error('unresolved_filter', message, atom.span, fixes));
}

/** Stop words and punctuation are not in the index; a clause of nothing else is dropped. */
export function ignoredClause(placed: PlacedAtom, view: View): void {
  const { atom, clause, field } = placed;
  if (clause.node !== null || view.root === null || atom.kind === 'lone_sign') return;
  if (clause.field === null && (isOperatorWord(atom) || isForeignOperator(atom))) return;
  if (isEmptyPhrase(atom)) return;
  const what = fields.get(field)?.stopWords === true ? 'Stop words and punctuation are' : 'Punctuation is';
  const message = `${what} not indexed, so this clause is ignored. Remove it, or quote it together with other words.`;
  view.report(suspicious('ignored_clause', message, clause.span, removal(placed)));
}

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

/** `a - b` does not exclude b: a sign before a space is a word, and that word is ignored. */
export function loneSign({ atom, group, index }: PlacedAtom, view: View): void {
  if (atom.kind !== 'lone_sign') return;
  const next = group.clauses[index + 1];
  const joins = next !== undefined && next.conjunction === null && next.modifier === null;
  const fixes = joins ? [replace('Remove the space', [atom.span[1], next.span[0]], '')] : [];
  const message = `A \`${view.text.charAt(atom.span[0])}\` with a space behind it is not an operator and is ignored.`;
  view.report(suspicious('lone_sign', message, atom.span, fixes));
}

/** Typographic quotes come from word processors and chat programs, single ones from SQL; neither makes a phrase. */
export function smartQuotes(view: View): void {
  const { foreignQuotes: places } = view;
  const [first] = places;
  if (first === undefined) return;
  if (!view.atoms.some(({ atom }) => atom.kind === 'term' && /[“”„«»'‘’]/.test(atom.value))) return;
  const edits = places.map((at): Edit => ({ span: [at, at + 1], text: '"' }));
  const message = 'Typographic and single quotes do not make a phrase. Use the straight quote `"`.';
  const fix = { title: 'Use straight quotes', certainty: 'certain', edits } as const;
  view.report(suspicious('smart_quotes', message, [first, first + 1], [fix]));
}

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
