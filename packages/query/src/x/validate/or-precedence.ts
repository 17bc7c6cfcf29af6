import type { Node, OrNode } from '../../ast.ts';
import { type Edit, type Fix, suspicious } from '../../diagnostics.ts';
import { outerClauses } from '../outer-filters.ts';
import { type NodeRule, shown, type View } from './rule.ts';

/**
 * `a OR b -is:retweet` filters only `b`, and `a OR b c` requires `c` only beside `b`, because a space binds tighter than
 * OR. Reported when a clause stands at the outer end of an OR and no other branch has one: then it was most likely meant
 * for all. Parentheses around the branch say that it was not.
 */
export const orPrecedence: NodeRule<'or'> = (node, view) => {
  const found = outerClauses(node, view.dialect);
  const first = found?.filters[0];
  if (found === null || first === undefined || found.filters.some(isSample)) return;
  const fix = orGrouping(node, 'Apply it to all branches', view);
  const message = `${shown(view, first)} applies to one branch of the OR only, because a space binds tighter than OR. Group the branches, or that branch.`;
  const fixes = [...(fix === null ? [] : [fix]), asRead(node)];
  view.report(suspicious('or_precedence', message, first.span, fixes));
};

/** `sample:` in a branch is a separate error with the same fix. */
function isSample(node: Node): boolean {
  return node.kind === 'leaf' && node.field === 'sample';
}

/** Parentheses around what OR joins, with the clauses at both outer ends left outside. */
export function orGrouping(node: Node, title: string, { dialect }: View): Fix | null {
  const found = outerClauses(node, dialect);
  if (found === null) return null;
  return {
    title,
    certainty: 'guess',
    edits: [
      { span: [found.coreStart, found.coreStart], text: '(' },
      { span: [found.coreEnd, found.coreEnd], text: ')' },
    ],
  };
}

/** Parentheses around every branch of several clauses: what X reads, said out loud. */
function asRead({ children }: OrNode): Fix {
  const edits = children
    .filter((child) => child.kind === 'and' && child.span[0] === child.children[0]?.span[0])
    .flatMap(({ span: [start, end] }): Edit[] => [
      { span: [start, start], text: '(' },
      { span: [end, end], text: ')' },
    ]);
  return { title: 'Keep it on its branch', certainty: 'guess', edits };
}
