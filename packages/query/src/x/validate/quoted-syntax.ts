import type { LeafNode } from '../../ast.ts';
import { certain, type Diagnostic, replacement, suspicious } from '../../diagnostics.ts';
import { quoted } from '../../text.ts';
import { findOperator } from '../tables.ts';
import { clauseSpan, type LeafRule, type View } from './rule.ts';

/** Between quotes there are only words: operators, tags and wildcards mean nothing there, and signs are dropped. */
export const quotedSyntax: LeafRule = (leaf, view) => {
  if (leaf.test.type !== 'phrase') return;
  const inner = view.text.slice(leaf.valueSpan[0], leaf.valueSpan[1]).trim();
  const found =
    operatorInQuotes(leaf, inner, view) ?? wildcardInQuotes(leaf, inner) ?? droppedSigns(leaf, inner);
  if (found !== null) view.report(found);
};

function operatorInQuotes(leaf: LeafNode, inner: string, view: View): Diagnostic | null {
  const isTag = /^[#$@][\p{L}\p{N}_]+$/u.test(inner);
  const name = /^((?:is|has):\w+)$/i.exec(inner)?.[1] ?? /^(\w+):\S+$/.exec(inner)?.[1];
  const isOperator = name !== undefined && findOperator(name.toLowerCase()) !== undefined;
  if (!isTag && !isOperator) return null;
  const message = `In quotes ${quoted(inner, 40)} is looked for as plain words. Without quotes it is the ${isTag ? 'tag' : 'operator'}.`;
  const fix = replacement('Remove the quotes', clauseSpan(leaf, view.text), inner);
  return suspicious('quoted_operator', message, leaf.span, [isOperator ? certain(fix) : fix]);
}

function wildcardInQuotes(leaf: LeafNode, inner: string): Diagnostic | null {
  if (!/[\p{L}\p{N}]\*|\*[\p{L}\p{N}]|\s\*\s/u.test(inner)) return null;
  const message =
    'X has no wildcards: the * is dropped and words match whole. List the forms you need with OR.';
  return suspicious('no_wildcards', message, leaf.span);
}

function droppedSigns(leaf: LeafNode, inner: string): Diagnostic | null {
  const found = signsDropped(inner);
  if (found === null) return null;
  const message = `X drops the signs: this finds the word ${quoted(found.toLowerCase(), 40)}. Add words that distinguish it.`;
  return suspicious('dropped_signs', message, leaf.span);
}

/** What is left of `C++`, `C#` or `.NET`; null when the signs make no difference. */
export function signsDropped(word: string): string | null {
  return /^([A-Za-z]+)(?:\+\+?|#)$/.exec(word)?.[1] ?? /^\.([A-Za-z]+)$/.exec(word)?.[1] ?? null;
}
