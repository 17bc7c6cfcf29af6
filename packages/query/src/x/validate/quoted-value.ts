import { error, replacement, warning } from '../../diagnostics.ts';
import { isEmoji, isPlainWord, isSeparator } from '../characters.ts';
import { type LeafRule, source } from './rule.ts';

/** A phrase must contain a word, and a value with punctuation must be quoted. */
export const quotedValue: LeafRule = (leaf, view) => {
  if (leaf.test.type === 'phrase') {
    if (leaf.test.words.length > 0 && !leaf.test.words.some(hasToken)) {
      const message = 'X drops punctuation when it looks for words, so this can match nothing.';
      view.report(warning('nothing_to_match', message, leaf.span));
    }
    return;
  }
  if (leaf.test.type !== 'term' || leaf.field === 'keyword' || leaf.test.value === '') return;
  const value = view.text.slice(leaf.valueSpan[0], leaf.valueSpan[1]);
  const colon = value.includes(':');
  if (!colon && isPlainWord(leaf.test.value) && leaf.field !== 'entity') return;
  const message = `Put the value of ${leaf.field}: in quotes${colon ? '; a second colon is not read otherwise' : ''}.`;
  const fix = replacement('Quote the value', leaf.valueSpan, `"${value}"`);
  const fixes = source(view, leaf).endsWith('\\') ? [] : [fix];
  const report = colon
    ? error('second_colon', message, leaf.valueSpan, fixes)
    : warning('unquoted_value', message, leaf.valueSpan, fixes);
  view.report(report);
};

function hasToken(word: string): boolean {
  for (let at = 0; at < word.length; at += 1) {
    const codePoint = word.codePointAt(at) ?? 0;
    if (!isSeparator(codePoint) || isEmoji(codePoint)) return true;
    if (codePoint > 0xffff) at += 1;
  }
  return false;
}
