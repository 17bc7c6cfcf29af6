import { certain, replace, suspicious } from '../../diagnostics.ts';
import { escapeTerm } from '../escape.ts';
import { fields } from '../tables.ts';
import { wordsOf } from '../tokenize.ts';
import type { PlacedAtom, View } from './rule.ts';

/** Between quotes `*` and `?` are plain characters. */
export function quotedWildcard({ atom, field }: PlacedAtom, view: View): void {
  const row = fields.get(field);
  if (atom.kind !== 'quoted' || row === undefined || !hasWildcard(atom.value, row.type)) return;
  const message =
    'In quotes `*` is no wildcard but a character of the text. Write the pattern without quotes.';
  const pattern = atom.value.split('*').map(escapeTerm).join('*');
  const fix = replace('Remove the quotes', atom.span, pattern);
  const isAddress = field === 'url' || field === 'domain';
  const isWord = row.type === 'text' && wordsOf(atom.value).length === 1;
  const fixes = isAddress ? [certain(fix)] : isWord ? [fix] : [];
  view.report(suspicious('quoted_wildcard', message, atom.span, fixes));
}

function hasWildcard(value: string, type: string): boolean {
  return type === 'text' ? /[\p{L}\p{N}-]\*|\*[\p{L}\p{N}]/u.test(value) : value.includes('*');
}
