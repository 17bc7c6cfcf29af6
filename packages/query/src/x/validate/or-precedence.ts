import type { Node } from '../../ast.ts';
import { type Fix, warning } from '../../diagnostics.ts';
import { outerFilters } from '../outer-filters.ts';
import { type NodeRule, shown } from './rule.ts';

/**
 * `a OR b -is:retweet` filters only `b`, because a space binds tighter than OR. Reported when a filter stands at the
 * outer end of an OR and no other branch has one: then it was most likely meant for all.
 */
export const orPrecedence: NodeRule<'or'> = (node, view) => {
  const found = outerFilters(node);
  const first = found?.filters[0];
  if (found === null || first === undefined || found.filters.some(isSample)) return;
  const fix = orGrouping(node, 'Apply it to all branches');
  const message = `${shown(view, first)} applies to one branch of the OR only, because a space binds tighter than OR. Group the branches if it is meant for all.`;
  view.report(warning('or_precedence', message, first.span, fix === null ? [] : [fix]));
};

/** `sample:` in a branch is an error of its own, with the same fix. */
function isSample(node: Node): boolean {
  return node.kind === 'leaf' && node.field === 'sample';
}

/** Parentheses around what OR joins, with the filters at both outer ends left outside. */
export function orGrouping(node: Node, title: string): Fix | null {
  const found = outerFilters(node);
  if (found === null) return null;
  return {
    title,
    edits: [
      { span: [found.coreStart, found.coreStart], text: '(' },
      { span: [found.coreEnd, found.coreEnd], text: ')' },
    ],
  };
}
