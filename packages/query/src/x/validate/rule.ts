import type { LeafNode, Node, NotNode, Span } from '../../ast.ts';
import { type Diagnostic, type Fix, replacement } from '../../diagnostics.ts';
import type { Tier } from '../../language.ts';
import type { Dialect } from '../dialect.ts';

/** Clauses with commas or semicolons between them, in any script. */
export interface List {
  readonly span: Span;
  readonly items: readonly string[];
}

/** What a validation rule can read. Rules report and never throw. */
export interface View {
  readonly text: string;
  readonly dialect: Dialect;
  readonly tier: Tier;
  readonly lists: readonly List[];
  report(diagnostic: Diagnostic): void;
}

export type TextRule = (view: View) => void;
export type TreeRule = (root: Node, view: View) => void;
/** Called for every node of one kind. */
export type NodeRule<Kind extends Node['kind']> = (node: Extract<Node, { kind: Kind }>, view: View) => void;
export type LeafRule = (leaf: LeafNode, view: View, negation: NotNode | null) => void;

export function source(view: View, { span }: { readonly span: Span }): string {
  return view.text.slice(span[0], span[1]);
}

/** The phrase with the plain words on both sides, as in "Guns and Roses"; null if other syntax stands there. */
export function phraseAround([start, end]: Span, text: string): Fix | null {
  const from = Math.max(0, start - 40);
  const left = /(?<![^\s(])[\p{L}\p{M}\p{N}'’]+\s+$/u.exec(text.slice(from, start));
  const right = /^\s+[\p{L}\p{M}\p{N}'’]+(?![^\s)])/u.exec(text.slice(end, end + 40));
  if (left === null || right === null) return null;
  const whole: Span = [from + left.index, end + right[0].length];
  return replacement('Search the phrase', whole, `"${text.slice(...whole)}"`);
}

/** A clause in a message, cut to 40 characters. */
export function shown(view: View, node: { readonly span: Span }): string {
  const text = source(view, node);
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}

/** The clauses that must all match: the children of an `and`, flattened. */
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
