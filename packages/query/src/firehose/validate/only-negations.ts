import { certain, error, type Fix, replace } from '../../diagnostics.ts';
import type { Clause, Group } from '../surface.ts';
import { type PlacedClause, source, type View } from './rule.ts';

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
