import type { LeafNode } from '../../ast.ts';
import { error, type Fix, replacement } from '../../diagnostics.ts';
import { isPlainWord } from '../characters.ts';
import type { List, View } from './rule.ts';

/** Bounds the work on a text of nothing but commas. */
const lengthMax = 1_000;

const mark = '[,;،؛、，；]';
const word = String.raw`[#$@＃＄＠]?[\p{L}\p{M}\p{N}_]+(?:[-'’.][\p{L}\p{M}\p{N}_]+)*`;
const item = String.raw`(?:"[^"]*"|${word})`;
const separator = String.raw`\s*${mark}\s*`;
const run = new RegExp(String.raw`(?<=^|[\s(])${item}(?:${separator}${item})+(?=$|[\s)])`, 'gu');
const wordsOnly = new RegExp(String.raw`^${word}(?: ${word})*$`, 'u');

/** The lists of a rule. A rule that is nothing but a list may have items of several words. */
export function listsOf(text: string): readonly List[] {
  if (text.length > lengthMax || !new RegExp(mark, 'u').test(text)) return [];
  const items = text.trim().split(new RegExp(separator, 'u'));
  if (items.length > 1 && items.every((one) => wordsOnly.test(one)))
    return [{ span: [0, text.length], items }];
  const outsideQuotes = text.replaceAll(/"[^"]*"/g, (phrase) => `"${'x'.repeat(phrase.length - 2)}"`);
  return [...outsideQuotes.matchAll(run)].map(({ 0: found, index }) => ({
    span: [index, index + found.length],
    items: [...found.matchAll(new RegExp(item, 'gu'))].map((one) =>
      text.slice(index + one.index, index + one.index + one[0].length),
    ),
  }));
}

/** `a, b, c`: X has no lists, and either or all may be meant. */
export function list(view: View): void {
  for (const found of view.lists) {
    const message = `${view.dialect.name} has no lists. Join the words with OR if one is enough, or with spaces if all are needed.`;
    view.report(error('unquoted_punctuation', message, found.span, fixes(found, view)));
  }
}

function fixes({ span, items }: List, view: View): Fix[] {
  const clauses = items.map(asClause);
  const isWhole = span[0] === 0 && span[1] === view.text.length;
  const either = clauses.join(' OR ');
  return [
    replacement('Either is enough: OR', span, isWhole ? either : `(${either})`),
    replacement('All are needed', span, clauses.join(' ')),
  ];
}

function asClause(written: string): string {
  if (written.startsWith('"') || /^[#$@]/.test(written)) return written;
  return isPlainWord(written) ? written : `"${written}"`;
}

/** The list is one finding; its parts are none. */
export function isListed({ span }: LeafNode, { lists }: View): boolean {
  return lists.some((found) => span[0] < found.span[1] && found.span[0] < span[1]);
}
