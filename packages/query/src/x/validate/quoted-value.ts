import { replacement } from '../../diagnostics.ts';
import { isEmoji, isPlainWord, isSeparator } from '../characters.ts';
import { type LeafRule, source } from './rule.ts';

/** A phrase must contain a word, and a value with punctuation must be quoted. */
export const quotedValue: LeafRule = (leaf, view) => {
  if (leaf.test.type === 'phrase') {
    if (leaf.test.words.length > 0 && !leaf.test.words.some(hasToken)) {
      view.report({
        severity: 'warning',
        code: 'nothing_to_match',
        message: 'X drops punctuation when it looks for words, so this can match nothing.',
        span: leaf.span,
        fixes: [],
      });
    }
    return;
  }
  if (leaf.test.type !== 'term' || leaf.field === 'keyword' || leaf.test.value === '') return;
  const value = view.text.slice(leaf.valueSpan[0], leaf.valueSpan[1]);
  const colon = value.includes(':');
  if (!colon && isPlainWord(leaf.test.value) && leaf.field !== 'entity') return;
  view.report({
    severity: colon ? 'error' : 'warning',
    code: colon ? 'second_colon' : 'unquoted_value',
    message: `Put the value of ${leaf.field}: in quotes${colon ? '; a second colon is not read otherwise' : ''}.`,
    span: leaf.valueSpan,
    fixes: source(view, leaf).endsWith('\\')
      ? []
      : [replacement('Quote the value', leaf.valueSpan, `"${value}"`)],
  });
};

function hasToken(word: string): boolean {
  for (let at = 0; at < word.length; at += 1) {
    const codePoint = word.codePointAt(at) ?? 0;
    if (!isSeparator(codePoint) || isEmoji(codePoint)) return true;
    if (codePoint > 0xffff) at += 1;
  }
  return false;
}
