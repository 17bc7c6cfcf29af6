import { certain, type Fix, replace, suspicious } from '../../diagnostics.ts';
import { nearFix } from '../../near.ts';
import { quote } from '../escape.ts';
import { foreignMeaning, type PlacedAtom, type View } from './rule.ts';

const nearDistance = 5;

/** `|`, `&`, `UND` and `NEAR` are words or punctuation here. */
export function foreignOperator(placed: PlacedAtom, view: View): void {
  const { atom, clause } = placed;
  const meaning = foreignMeaning(atom);
  if (clause.field !== null || meaning === undefined) return;
  const instead = meaning === 'NEAR' ? 'a distance as "one two"~5' : meaning;
  const message = `\`${atom.value}\` is no operator here. Write ${instead}.`;
  view.report(suspicious('foreign_operator', message, atom.span, fixes(placed, meaning, view)));
}

function fixes({ atom, clause, group, index }: PlacedAtom, meaning: string, view: View): Fix[] {
  const previous = group.clauses[index - 1];
  const next = group.clauses[index + 1];
  const joins =
    previous !== undefined && next !== undefined && next.conjunction === null && clause.conjunction === null;
  if (!joins) return [];
  const operator = replace(`Write ${meaning}`, atom.span, meaning);
  const around = [previous.span[0], next.span[1]] as const;
  const isPlain = [previous, next].every(
    ({ body, field, modifier }) =>
      field === null &&
      modifier === null &&
      body.type === 'atom' &&
      body.kind === 'term' &&
      body.slop === null,
  );
  if (meaning === 'NEAR') return nearFix(atom.span, nearDistance, view.text);
  // `Johnson & Johnson` may be one name.
  if (atom.value !== '&' || !isPlain) return [certain(operator)];
  return [replace('Search the name', around, quote(view.text.slice(...around))), operator];
}
