import type { LeafNode, Node } from '../../ast.ts';
import { replacement } from '../../diagnostics.ts';
import { clauseWithSpace } from '../cut.ts';
import { orGrouping } from './or-precedence.ts';
import { type Place, type TreeRule } from './rule.ts';

/** `sample:` applies to the whole rule: once, and outside every OR (x.md §10.1). */
export const samplePlacement: TreeRule = (root, place) => {
  const seen: LeafNode[] = [];
  walk(root, null, place, seen);
  for (const leaf of seen.slice(1)) {
    place.report({
      severity: 'error',
      code: 'several_samples',
      message: 'sample: may stand once in a rule; it applies to the whole rule.',
      span: leaf.span,
      fixes: [replacement('Remove this one', clauseWithSpace(place.text, leaf.span), '')],
    });
  }
};

function walk(node: Node, or: Node | null, place: Place, seen: LeafNode[]): void {
  if (node.kind === 'leaf') {
    if (node.field !== 'sample') return;
    seen.push(node);
    if (or !== null) reportInsideOr(node, or, place);
  } else if (node.kind === 'not') {
    walk(node.child, or, place, seen);
  } else if (node.kind !== 'never') {
    for (const child of node.children) walk(child, node.kind === 'or' ? node : or, place, seen);
  }
}

function reportInsideOr(leaf: LeafNode, or: Node, place: Place): void {
  const fix = orGrouping(or, 'Group the OR');
  place.report({
    severity: 'error',
    code: 'sample_needs_group',
    message: 'sample: applies to the whole rule. Put everything that OR joins in parentheses before it.',
    span: leaf.span,
    fixes: fix === null ? [] : [fix],
  });
}
