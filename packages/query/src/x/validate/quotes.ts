import type { LeafNode } from '../../ast.ts';
import { certain, type Diagnostic, error, replacement, suspicious, warning } from '../../diagnostics.ts';
import { quoted } from '../../text.ts';
import { isEmoji, isPlainWord, isSeparator } from '../characters.ts';
import { clauseSpan, type LeafRule, source, type View } from './rule.ts';

/** Between quotes there are only words: operators, tags and wildcards mean nothing there, and signs are dropped. */
export const quotedSyntax: LeafRule = (leaf, view) => {
  if (leaf.test.type !== 'phrase') return;
  const inner = view.text.slice(leaf.valueSpan[0], leaf.valueSpan[1]).trim();
  const found =
    operatorInQuotes(leaf, inner, view) ??
    wildcardInQuotes(leaf, inner, view) ??
    droppedSigns(leaf, inner, view);
  if (found !== null) view.report(found);
};

function operatorInQuotes(leaf: LeafNode, inner: string, view: View): Diagnostic | null {
  const isTag = /^[#$@][\p{L}\p{N}_]+$/u.test(inner);
  const name = /^((?:is|has):\w+)$/i.exec(inner)?.[1] ?? /^(\w+):\S+$/.exec(inner)?.[1];
  const isOperator = name !== undefined && view.dialect.findOperator(name.toLowerCase()) !== undefined;
  if (!isTag && !isOperator) return null;
  const message = `In quotes ${quoted(inner, 40)} is looked for as plain words. Without quotes it is the ${isTag ? 'tag' : 'operator'}.`;
  const fix = replacement('Remove the quotes', clauseSpan(leaf, view.text), inner);
  return suspicious('quoted_operator', message, leaf.span, [isOperator ? certain(fix) : fix]);
}

function wildcardInQuotes(leaf: LeafNode, inner: string, { dialect }: View): Diagnostic | null {
  if (!/[\p{L}\p{N}]\*|\*[\p{L}\p{N}]|\s\*\s/u.test(inner)) return null;
  const message = `${dialect.name} has no wildcards: the * is dropped and words match whole. List the forms you need with OR.`;
  return suspicious('no_wildcards', message, leaf.span);
}

function droppedSigns(leaf: LeafNode, inner: string, { dialect }: View): Diagnostic | null {
  const found = signsDropped(inner);
  if (found === null) return null;
  const message = `${dialect.name} drops the signs: this finds the word ${quoted(found.toLowerCase(), 40)}. Add words that distinguish it.`;
  return suspicious('dropped_signs', message, leaf.span);
}

/** What is left of `C++`, `C#` or `.NET`; null when the signs make no difference. */
export function signsDropped(word: string): string | null {
  return /^([A-Za-z]+)(?:\+\+?|#)$/.exec(word)?.[1] ?? /^\.([A-Za-z]+)$/.exec(word)?.[1] ?? null;
}

/** A phrase must contain a word, and a value with punctuation must be quoted. */
export const quotedValue: LeafRule = (leaf, view) => {
  const { test } = leaf;
  const words = test.type === 'phrase' ? test.words : test.type === 'term' ? [test.value] : [];
  const isText = leaf.field !== 'url_contains' && (test.type === 'phrase' || leaf.field !== 'keyword');
  if (isText && words.some((word) => word !== '') && !words.some(hasToken)) {
    const message = `${view.dialect.name} drops punctuation when it looks for words, so this can match nothing.`;
    view.report(error('nothing_to_match', message, leaf.span));
    return;
  }
  if (test.type === 'phrase') return;
  if (leaf.test.type !== 'term' || leaf.field === 'keyword' || leaf.test.value === '') return;
  const cutName = severalWords(leaf, view);
  if (cutName !== null) return view.report(cutName);
  const value = view.text.slice(leaf.valueSpan[0], leaf.valueSpan[1]);
  const colon = value.includes(':');
  if (!colon && isPlainWord(leaf.test.value) && leaf.field !== 'entity') return;
  const message = `Put the value of ${leaf.field}: in quotes${colon ? '; a second colon is not read otherwise' : ''}.`;
  const fix = certain(replacement('Quote the value', leaf.valueSpan, `"${value}"`));
  const fixes = source(view, leaf).endsWith('\\') ? [] : [fix];
  const report = colon
    ? error('second_colon', message, leaf.valueSpan, fixes)
    : warning('unquoted_value', message, leaf.valueSpan, fixes);
  view.report(report);
};

const nameFields: ReadonlySet<string> = new Set(['entity', 'place', 'source']);

/** Names of places do not end with these. */
const openNames =
  /^(?:new|los|las|san|santa|sao|são|rio|hong|buenos|cape|saint|st|el|la|le|tel|abu|kuala|united|north|south|east|west)$/i;

/** In `entity:Michael Jordan` the second word is a separate clause; `entity:Tesla recall` is meant so. */
function severalWords(leaf: LeafNode, view: View): Diagnostic | null {
  const end = leaf.valueSpan[1];
  const after = /^ +([\p{L}\p{N}]+)(?=$|[ )])/u.exec(view.text.slice(end, end + 60));
  const next = after?.[1] ?? '';
  const value = view.text.slice(leaf.valueSpan[0], end);
  if (next === '' || /^(?:OR|AND|NOT|and|or)$/.test(next) || !/^[\p{L}\p{N}]+$/u.test(value)) return null;
  const isName = /^\p{Lu}/u.test(value) && /^\p{Lu}/u.test(next);
  const isOpen = (leaf.field === 'place' || leaf.field === 'bio_location') && openNames.test(value);
  // German nouns begin with capitals, too.
  if (!isOpen && (!isName || /\blang:de\b/i.test(view.text))) return null;
  const message = `${leaf.field}: takes one word here; ${quoted(next, 40)} is looked for in the post. Quote the value.`;
  const whole = replacement(
    'Quote both words',
    [leaf.valueSpan[0], end + (after?.[0].length ?? 0)],
    `"${value} ${next}"`,
  );
  const one = replacement('Quote the first word', leaf.valueSpan, `"${value}"`);
  const report = isOpen || nameFields.has(leaf.field) ? suspicious : warning;
  return report('unquoted_value', message, leaf.valueSpan, [whole, one]);
}

function hasToken(word: string): boolean {
  for (let at = 0; at < word.length; at += 1) {
    const codePoint = word.codePointAt(at) ?? 0;
    if (!isSeparator(codePoint) || isEmoji(codePoint)) return true;
    if (codePoint > 0xffff) at += 1;
  }
  return false;
}
