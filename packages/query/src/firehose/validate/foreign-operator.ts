import { certain, type Fix, replace, suspicious } from '../../diagnostics.ts';
import { isForeignOperator, type PlacedAtom, type View } from './rule.ts';

/** `|` and `&` of other languages are punctuation here and would be dropped. */
export function foreignOperator({ atom, clause, group, index }: PlacedAtom, view: View): void {
  if (clause.field !== null || !isForeignOperator(atom)) return;
  const word = atom.value === '|' ? 'OR' : 'AND';
  const next = group.clauses[index + 1];
  const joins = index > 0 && next !== undefined && next.conjunction === null && clause.conjunction === null;
  const fixes: Fix[] = joins ? [certain(replace(`Write ${word}`, atom.span, word))] : [];
  const message = `\`${atom.value}\` is no operator here and is ignored. Write ${word}.`;
  view.report(suspicious('foreign_operator', message, atom.span, fixes));
}
