import type { Node, Span } from '../ast.ts';
import { analyse } from './analyse.ts';
import type { Clause, Group, Occur } from './surface.ts';
import { defaultField } from './tables.ts';

/**
 * Lucene has no precedence (firehose.md §12.4). Each level gives its clauses an occurrence: AND makes the
 * clause after it and the one before it required, NOT makes one prohibited, everything else is optional. A
 * level matches when all required and no prohibited clauses match and, without any required one, at least
 * one optional does. The result is a strict tree; each clause records its part in it.
 */
export function lower(group: Group, field: string = defaultField): Node | null {
  const parts: Record<Occur, Node[]> = { required: [], optional: [], prohibited: [] };
  assignOccurs(group.clauses, field);
  for (const clause of group.clauses) if (clause.node !== null) parts[clause.occur].push(clause.node);
  const hasRequired = parts.required.length > 0;
  for (const clause of group.clauses) clause.dead = hasRequired && clause.occur === 'optional';
  const positive = hasRequired ? parts.required : alternatives(parts.optional, group.span);
  if (positive.length === 0) {
    return parts.prohibited.length === 0 ? null : { kind: 'never', why: 'only_negations', span: group.span };
  }
  const [only] = positive;
  if (only !== undefined && positive.length === 1 && parts.prohibited.length === 0) return only;
  const negated = parts.prohibited.map((child): Node => ({ kind: 'not', child, span: child.span }));
  return { kind: 'and', children: [...positive, ...negated], span: group.span };
}

function assignOccurs(clauses: readonly Clause[], field: string): void {
  // The clause before an AND is the last one that analysis has not removed, as in Lucene.
  let previous: Clause | null = null;
  for (const clause of clauses) {
    const introduced = clause.conjunction?.kind === 'and';
    if (introduced && previous?.occur === 'optional') previous.occur = 'required';
    clause.node = lowerClause(clause, field);
    clause.occur = 'optional';
    if (clause.modifier?.kind === 'prohibit') clause.occur = 'prohibited';
    else if (introduced || clause.modifier?.kind === 'require') clause.occur = 'required';
    if (clause.node !== null) previous = clause;
  }
}

function lowerClause(clause: Clause, inherited: string): Node | null {
  const field = clause.field?.name ?? inherited;
  if (clause.body.type === 'group') return lower(clause.body, field);
  const start = clause.field?.span[0] ?? clause.body.span[0];
  return analyse(field, clause.body, [start, clause.span[1]]);
}

function alternatives(children: readonly Node[], span: Span): Node[] {
  const [only] = children;
  if (only === undefined) return [];
  return children.length === 1 ? [only] : [{ kind: 'or', children, span }];
}
