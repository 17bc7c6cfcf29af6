import { certain, replace, suspicious } from '../../diagnostics.ts';
import { escapeTerm, quote } from '../escape.ts';
import { fields } from '../tables.ts';
import { wordsOf } from '../tokenize.ts';
import type { PlacedAtom, View } from './rule.ts';

/** Between quotes `*` and `?` are plain characters. */
export function quotedWildcard({ atom, field }: PlacedAtom, view: View): void {
  const row = fields.get(field);
  if (atom.kind !== 'quoted' || row === undefined || !hasWildcard(atom.value, row.type)) return;
  const words = row.type === 'text' ? wordsOf(atom.value) : [];
  const message =
    words.length > 1
      ? `In quotes \`*\` is dropped: this finds ${quote(words.join(' '))}. A phrase has no wildcard.`
      : 'In quotes `*` is no wildcard but a character of the text. Write the pattern without quotes.';
  const pattern = atom.value.split('*').map(escapeTerm).join('*');
  const fix = replace('Remove the quotes', atom.span, pattern);
  const isAddress = field === 'url' || field === 'domain';
  const phrase = replace('Remove the *', atom.span, quote(words.join(' ')));
  const fixes = isAddress ? [certain(fix)] : words.length === 1 ? [fix] : words.length > 1 ? [phrase] : [];
  view.report(suspicious('quoted_wildcard', message, atom.span, fixes));
}

function hasWildcard(value: string, type: string): boolean {
  return type === 'text' ? /[\p{L}\p{N}-]\*|\*[\p{L}\p{N}]/u.test(value) : value.includes('*');
}
