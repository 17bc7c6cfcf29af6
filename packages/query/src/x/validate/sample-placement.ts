import type { LeafNode, Node } from '../../ast.ts';
import { certain, error } from '../../diagnostics.ts';
import { cutting } from '../cut.ts';
import { orGrouping } from './or-precedence.ts';
import { type TreeRule, type View } from './rule.ts';

/** `sample:` applies to the whole rule: once, and outside every OR (x.md §10.1). */
export const samplePlacement: TreeRule = (root, view) => {
  const seen: LeafNode[] = [];
  walk(root, null, view, seen);
  for (const leaf of seen.slice(1)) {
    const message = 'sample: may stand once in a rule; it applies to the whole rule.';
    const fix = cutting('Remove this one', view.text, leaf.span);
    view.report(error('several_samples', message, leaf.span, [fix]));
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
  const message = 'sample: applies to the whole rule. Put everything that OR joins in parentheses before it.';
  view.report(error('sample_needs_group', message, leaf.span, fix === null ? [] : [certain(fix)]));
}
