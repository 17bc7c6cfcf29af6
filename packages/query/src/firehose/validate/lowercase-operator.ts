import { certain, type Fix, replace, suspicious } from '../../diagnostics.ts';
import { isOperatorWord, isProse, type PlacedAtom, type View } from './rule.ts';

/** Operators are upper case; in lower case they are stop words and ignored. */
export function lowercaseOperator({ atom, clause, group, index }: PlacedAtom, view: View): void {
  if (clause.field !== null || clause.modifier !== null || atom.slop !== null || !isOperatorWord(atom))
    return;
  const upper = atom.value.toUpperCase();
  const next = group.clauses[index + 1];
  const needsClauseBefore = upper !== 'NOT' && (index === 0 || clause.conjunction !== null);
  const usable = next !== undefined && next.conjunction === null && !needsClauseBefore;
  const fix = replace(`Use ${upper}`, atom.span, upper);
  const fixes: Fix[] = !usable ? [] : isProse(view.text) ? [fix] : [certain(fix)];
  const message = `\`${atom.value}\` is read as a word and ignored. Operators are written in upper case: ${upper}.`;
  view.report(suspicious('lowercase_operator', message, atom.span, fixes));
}
