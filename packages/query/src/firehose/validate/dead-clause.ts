import { type Edit, type Fix, suspicious } from '../../diagnostics.ts';
import { quoted } from '../../text.ts';
import type { Clause, Group } from '../surface.ts';
import { gapsOf } from './implicit-operator.ts';
import { isAsSeen, source, type View } from './rule.ts';

/**
 * Lucene has no precedence: beside a required clause, an optional one never decides. `a OR b AND c` is `b AND c`.
 * Reports the first such clause of each level.
 */
export function deadClause(group: Group, view: View): void {
  const dead = group.clauses.filter((clause) => clause.dead && clause.node !== null);
  const [first] = dead;
  if (first === undefined || !isAsSeen(group, view)) return;
  // Without an operator before it, that is the mistake.
  if (gapsOf(group, view).length > 0) return;
  const names = dead
    .map(({ span }) => quoted(source(view, span), 40))
    .slice(0, 3)
    .join(', ');
  const message = `${names} can never affect this rule: AND and OR have no precedence here, and beside a clause that is required an optional one is ignored. Add parentheses.`;
  view.report(suspicious('dead_clause', message, first.span, fixesFor(group)));
}

/** `"foo" NEAR "bar"` of other languages: a distance is written behind a phrase. */
function isNear({ body }: Clause): boolean {
  return body.type === 'atom' && body.kind === 'term' && /^(?:NEAR|WITHIN|ADJ)\d*$/.test(body.value);
}

function fixesFor(group: Group): Fix[] {
  if (group.clauses.some(isNear)) return [];
  const groupings = [
    grouping('Group the alternatives', group.clauses, 'and'),
    grouping('Group what belongs together with AND', group.clauses, 'or'),
  ].filter((fix) => fix !== null);
  const signed = group.clauses.some(({ modifier }) => modifier?.kind === 'require');
  return signed || groupings.length === 0 ? [withoutDead(group)] : groupings;
}

/** Keeps the clauses that decide, without the operator before the first. */
function withoutDead({ clauses }: Group): Fix {
  const firstKept = clauses.findIndex(({ dead }) => !dead);
  const edits = clauses.flatMap((clause, index): Edit[] => {
    const before = clauses[index - 1];
    if (!clause.dead || before === undefined || index < firstKept) return [];
    return [{ span: [before.span[1], clause.span[1]], text: '' }];
  });
  const [first, kept] = [clauses[0], clauses[firstKept]];
  if (first !== undefined && kept !== undefined && firstKept > 0) {
    edits.push({ span: [first.span[0], kept.span[0]], text: '' });
  }
  return { title: 'Remove what has no effect', certainty: 'guess', edits };
}

/** Cuts the level at one kind of operator and puts parentheses around each piece of several clauses. */
function grouping(title: string, clauses: readonly Clause[], cutAt: 'and' | 'or'): Fix | null {
  const pieces: Clause[][] = [];
  for (const clause of clauses) {
    const kind = clause.conjunction?.kind ?? (clause.modifier?.kind === 'prohibit' ? 'and' : 'or');
    const last = pieces.at(-1);
    if (last === undefined || kind === cutAt) pieces.push([clause]);
    else last.push(clause);
  }
  // A piece that has only exclusions would match nothing.
  if (pieces.some((piece) => piece.length > 1 && piece.every(isNegative))) return null;
  // `NOT a OR b` in parentheses would be `b AND NOT a`.
  if (cutAt === 'and' && pieces.some((piece) => piece.length > 1 && piece.some(isNegative))) return null;
  if (cutAt === 'or' && pieces.some((piece) => piece.every(isNegative))) return null;
  const parentheses = pieces.flatMap((piece): Edit[] => {
    const start = piece[0]?.span[0];
    const end = piece.at(-1)?.span[1];
    if (piece.length < 2 || start === undefined || end === undefined) return [];
    return [
      { span: [start, start], text: '(' },
      { span: [end, end], text: ')' },
    ];
  });
  return parentheses.length === 0
    ? null
    : { title, certainty: 'guess', edits: [...parentheses, ...missingAnds(clauses)] };
}

/** An exclusion without an operator does not make the clause before it required; AND does. */
function missingAnds(clauses: readonly Clause[]): Edit[] {
  return clauses
    .slice(1)
    .filter((clause) => clause.conjunction === null && isNegative(clause))
    .map(({ span: [start] }) => ({ span: [start, start], text: 'AND ' }));
}

function isNegative({ modifier }: Clause): boolean {
  return modifier?.kind === 'prohibit';
}
