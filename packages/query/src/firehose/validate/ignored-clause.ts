import { suspicious } from '../../diagnostics.ts';
import { fields } from '../tables.ts';
import { isEmptyPhrase } from './empty-phrase.ts';
import { isForeignOperator, isOperatorWord, type PlacedAtom, removal, type View } from './rule.ts';

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
