import type { Node } from '../ast.ts';
import type { Dialect } from './dialect.ts';

/**
 * The filters at the outer ends of an OR, when no other branch has one: `a OR b -is:retweet`. Null when no filter seems
 * meant for all branches.
 */
export interface OuterFilters {
  readonly coreStart: number;
  readonly coreEnd: number;
  readonly filters: readonly Node[];
}

export function outerFilters(node: Node, dialect: Dialect): OuterFilters | null {
  if (node.kind !== 'or' || !node.children.some((branch) => hasFilter(branch, dialect))) return null;
  const branches = node.children.map(clausesOf);
  const first = branches[0] ?? [];
  const last = branches.at(-1) ?? [];
  const lead = first.findIndex((clause) => !isFilter(clause, dialect));
  const tail = last.findLastIndex((clause) => !isFilter(clause, dialect));
  const start = first[lead];
  const end = last[tail];
  const filters = [...first.slice(0, lead), ...last.slice(tail + 1)];
  if (start === undefined || end === undefined || filters.length === 0) return null;
  const cores = [first.slice(lead), ...branches.slice(1, -1), last.slice(0, tail + 1)];
  if (cores.some((core) => core.some((clause) => isFilter(clause, dialect)))) return null;
  return { coreStart: start.span[0], coreEnd: end.span[1], filters };
}

function hasFilter(branch: Node, dialect: Dialect): boolean {
  return branch.kind === 'and'
    ? branch.children.some((clause) => isFilter(clause, dialect))
    : isFilter(branch, dialect);
}

/** A branch in its own parentheses is deliberate and one clause: its span is wider than its children. */
function clausesOf(branch: Node): readonly Node[] {
  if (branch.kind !== 'and') return [branch];
  const first = branch.children[0];
  return first !== undefined && branch.span[0] < first.span[0] ? [branch] : branch.children;
}

/** A clause that only narrows: a negation, or an operator that cannot stand alone. */
function isFilter(node: Node, { findOperator }: Dialect): boolean {
  if (node.kind === 'not') return node.child.kind === 'leaf';
  return node.kind === 'leaf' && node.field !== 'keyword' && findOperator(node.field)?.standalone === 'no';
}

/**
 * What stands beside one branch of an OR although it was probably meant for all: the filters above, or whatever follows
 * the last alternative (`a OR b c`) or precedes the first (`a b OR c`) when every other branch is a single clause.
 */
export function outerClauses(node: Node, dialect: Dialect): OuterFilters | null {
  if (node.kind !== 'or') return null;
  const branches = node.children.map(clausesOf);
  const first = branches[0] ?? [];
  const last = branches.at(-1) ?? [];
  const lead = Math.max(
    0,
    first.findIndex((clause) => !isFilter(clause, dialect)),
  );
  const tail = last.findLastIndex((clause) => !isFilter(clause, dialect));
  const isSingle = branches.slice(1, -1).every((branch) => branch.length === 1);
  const begin = first.at(-1);
  const [end] = last;
  if (
    isSingle &&
    begin !== undefined &&
    end !== undefined &&
    !isFilter(begin, dialect) &&
    !isFilter(end, dialect)
  ) {
    if (first.length - lead === 1 && last.length > 1)
      return {
        coreStart: begin.span[0],
        coreEnd: end.span[1],
        filters: [...last.slice(1), ...first.slice(0, lead)],
      };
    if (tail === 0 && first.length > 1)
      return {
        coreStart: begin.span[0],
        coreEnd: end.span[1],
        filters: [...first.slice(0, -1), ...last.slice(1)],
      };
  }
  return outerFilters(node, dialect);
}
