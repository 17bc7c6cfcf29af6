import { certain, error, type Fix, replace, suspicious } from '../../diagnostics.ts';
import { nearFix } from '../../near.ts';
import { quote } from '../escape.ts';
import type { Clause, Group } from '../surface.ts';
import {
  foreignMeaning,
  isOperatorWord,
  isProse,
  type PlacedAtom,
  type PlacedClause,
  source,
  type View,
} from './rule.ts';

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

/** `a OR NOT b` is `a AND NOT b`: an exclusion applies to the whole level, whatever the operator before it. */
export function orNot(group: Group, view: View): void {
  for (const { conjunction, modifier } of group.clauses) {
    if (conjunction?.kind !== 'or' || modifier?.kind !== 'prohibit') continue;
    const message =
      '`OR NOT` does not widen the rule: the exclusion applies to everything in this group. Write AND NOT.';
    const fix = replace('Write AND NOT', conjunction.span, 'AND');
    view.report(suspicious('or_not', message, [conjunction.span[0], modifier.span[1]], [fix]));
  }
}

/** A level that has only exclusions matches nothing, also inside parentheses. */
export function onlyNegations(group: Group, view: View): void {
  if (group.clauses.some(({ node, occur }) => node !== null && occur !== 'prohibited')) return;
  const meaning = group.clauses.filter(({ node }) => node !== null);
  if (meaning.length === 0) return;
  const owner = view.clauses.find(({ clause }) => clause.body === group);
  const where = owner === undefined ? 'The rule' : 'This group';
  const message = `${where} only says what must not match, so it matches nothing. Add what to look for${
    owner === undefined ? '' : ', or negate the group as a whole: `AND NOT (a OR b)`'
  }.`;
  const first = meaning[0]?.span ?? group.span;
  view.report(
    error('only_negations', message, owner === undefined ? first : group.span, fixesFor(group, owner, view)),
  );
}

/** `x AND (NOT a AND NOT b)` is meant as `x AND NOT (a OR b)`. */
function fixesFor(group: Group, owner: PlacedClause | undefined, view: View): Fix[] {
  if (owner === undefined || owner.clause.modifier !== null) return [];
  const required = owner.clause.occur === 'required';
  const hasPositive = owner.group.clauses.some(
    (other) => other !== owner.clause && other.occur !== 'prohibited',
  );
  if (!required || !hasPositive) return [];
  const inner = group.clauses.map((clause) => withoutModifier(clause, view)).join(' OR ');
  const field = owner.clause.field === null ? '' : `${owner.clause.field.name}:`;
  const text = `NOT ${field}(${inner})`;
  const fix = replace('Negate the group as a whole', owner.clause.span, text);
  // `NOT a OR NOT b` may be meant as `NOT (a AND b)`.
  return [group.clauses.some(({ conjunction }) => conjunction?.kind === 'or') ? fix : certain(fix)];
}

function withoutModifier({ modifier, span }: Clause, view: View): string {
  return source(view, modifier === null ? span : [modifier.span[1], span[1]]).trim();
}
