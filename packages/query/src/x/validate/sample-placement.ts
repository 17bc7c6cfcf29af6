import type { LeafNode, Node } from '../../ast.ts';
import { replacement } from '../../diagnostics.ts';
import { clauseWithSpace } from '../cut.ts';
import { orGrouping } from './or-precedence.ts';
import { type TreeRule, type View } from './rule.ts';

/** `sample:` applies to the whole rule: once, and outside every OR (x.md §10.1). */
export const samplePlacement: TreeRule = (root, view) => {
  const seen: LeafNode[] = [];
  walk(root, null, view, seen);
  for (const leaf of seen.slice(1)) {
    view.report({
      severity: 'error',
      code: 'several_samples',
      message: 'sample: may stand once in a rule; it applies to the whole rule.',
      span: leaf.span,
      fixes: [replacement('Remove this one', clauseWithSpace(view.text, leaf.span), '')],
    });
  }
};

function walk(node: Node, or: Node | null, view: View, seen: LeafNode[]): void {
  if (node.kind === 'leaf') {
    if (node.field !== 'sample') return;
    seen.push(node);
    if (or !== null) reportInsideOr(node, or, view);
  } else if (node.kind === 'not') {
    walk(node.child, or, view, seen);
  } else if (node.kind !== 'never') {
    for (const child of node.children) walk(child, node.kind === 'or' ? node : or, view, seen);
  }
}

function reportInsideOr(leaf: LeafNode, or: Node, view: View): void {
  const fix = orGrouping(or, 'Group the OR');
  view.report({
    severity: 'error',
    code: 'sample_needs_group',
    message: 'sample: applies to the whole rule. Put everything that OR joins in parentheses before it.',
    span: leaf.span,
    fixes: fix === null ? [] : [fix],
  });
}
