import type { LeafNode, Node, NotNode, Span } from '../../ast.ts';
import type { Diagnostic } from '../../diagnostics.ts';
import type { Tier } from '../../language.ts';

/** What a validation rule may look at. It reports and never throws. */
export interface Place {
  readonly text: string;
  readonly tier: Tier;
  report(diagnostic: Diagnostic): void;
}

export type TextRule = (place: Place) => void;
export type TreeRule = (root: Node, place: Place) => void;
/** Called for every node of one kind, during the one walk over the tree. */
export type NodeRule<Kind extends Node['kind']> = (node: Extract<Node, { kind: Kind }>, place: Place) => void;
export type LeafRule = (leaf: LeafNode, place: Place, negation: NotNode | null) => void;

export function source(place: Place, { span }: { readonly span: Span }): string {
  return place.text.slice(span[0], span[1]);
}

/** A clause inside a message, which stays short whatever the rule. */
export function shown(place: Place, node: { readonly span: Span }): string {
  const text = source(place, node);
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}

/** The clauses that must all hold: the children of an `and`, with nested ones laid flat. */
export function conjuncts(node: Node): readonly Node[] {
  if (node.kind !== 'and') return [node];
  return node.children.some((child) => child.kind === 'and')
    ? node.children.flatMap(conjuncts)
    : node.children;
}

/** Without the parentheses that a group of one clause puts around the leaf. */
export function clauseSpan(leaf: LeafNode, text: string): Span {
  let [start, end] = leaf.span;
  while (start < leaf.valueSpan[0] && /[(\s]/.test(text.charAt(start))) start += 1;
  while (end > leaf.valueSpan[1] && /[)\s]/.test(text.charAt(end - 1))) end -= 1;
  return [start, end];
}
