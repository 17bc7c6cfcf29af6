import type { LeafNode } from '../../ast.ts';
import { type Diagnostic, error, type Fix, replacement, warning } from '../../diagnostics.ts';
import { quoted } from '../../text.ts';
import { isEmoji, isPlainWord, isSeparator } from '../characters.ts';
import { cutting } from '../cut.ts';
import { type LeafRule, source, type View } from './rule.ts';

/** A bare keyword is letters and digits, or one plain emoji; everything else must be quoted (x.md §10.1). */
export const unquotedPunctuation: LeafRule = (leaf, view) => {
  if (leaf.test.type !== 'term' || isPlainWord(leaf.test.value)) return;
  const word = view.text.slice(leaf.valueSpan[0], leaf.valueSpan[1]);
  view.report(emojiFinding(leaf, word) ?? borrowedSyntax(leaf, word, view) ?? punctuation(leaf, word, view));
};

function quoteFix(leaf: LeafNode, word: string): Fix[] {
  return word.endsWith('\\') ? [] : [replacement('Quote it', leaf.valueSpan, `"${word}"`)];
}

function emojiFinding(leaf: LeafNode, word: string): Diagnostic | null {
  if (!Array.from(word).some((character) => isEmoji(character.codePointAt(0) ?? 0))) return null;
  const message = 'An emoji with a skin tone, joiner, flag or neighbour must stand in quotes.';
  return error('unquoted_emoji', message, leaf.span, quoteFix(leaf, word));
}

const joinMarks: ReadonlyMap<string, string> = new Map([
  ['|', 'OR'],
  ['||', 'OR'],
  ['&', ''],
  ['&&', ''],
  ['+', ''],
]);

/** Syntax of other search languages. */
function borrowedSyntax(leaf: LeafNode, word: string, view: View): Diagnostic | null {
  const foreign = (message: string, fix: Fix): Diagnostic =>
    error('foreign_syntax', message, leaf.span, [fix]);
  const joined = joinMarks.get(word);
  if (joined !== undefined) {
    const fix =
      joined === ''
        ? cutting(`Remove ${word}`, view.text, leaf.span)
        : replacement('Write OR', leaf.valueSpan, joined);
    return foreign(`X does not know ${word}. A space means that both match, OR that either does.`, fix);
  }
  if (word.includes('://')) {
    const fix = replacement('Search it as a link', leaf.valueSpan, `url:"${word}"`);
    const message = 'A link must be written with url: and quotes.';
    return error('bare_url', message, leaf.span, word.endsWith('\\') ? [] : [fix]);
  }
  const rest = word.slice(1);
  if ((word.startsWith('!') || word.startsWith('+')) && isPlainWord(rest)) {
    const instead = word.startsWith('!') ? `-${rest}` : rest;
    const message = 'X excludes with a dash and requires by a space; it does not know ! and +.';
    return foreign(message, replacement(`Write ${instead}`, leaf.valueSpan, instead));
  }
  if (word.includes('*')) return wildcard(leaf, word);
  const parts = word.split('|').filter((part) => part !== '');
  if (word.includes('|') && parts.length > 1 && parts.every(isPlainWord)) {
    const fix = replacement('Write OR', leaf.valueSpan, `(${parts.join(' OR ')})`);
    return foreign('X writes "either" as OR.', fix);
  }
  return null;
}

function wildcard(leaf: LeafNode, word: string): Diagnostic {
  const plain = word.replaceAll('*', '');
  const message = 'X has no wildcards: words match whole. List the forms you need with OR.';
  const fixes = plain !== '' && isPlainWord(plain) ? [replacement('Remove *', leaf.valueSpan, plain)] : [];
  return error('no_wildcards', message, leaf.span, fixes);
}

function punctuation(leaf: LeafNode, word: string, view: View): Diagnostic {
  const code = 'unquoted_punctuation';
  const bare = stripEnds(word);
  const shown = quoted(source(view, leaf), 40);
  if (bare === '') {
    const fix = cutting(`Remove ${word}`, view.text, leaf.span);
    return error(code, `${shown} has no letter or digit to search for. Remove it.`, leaf.span, [fix]);
  }
  const message = `${shown} has punctuation, so X wants it in quotes.`;
  if (bare !== word && isPlainWord(bare)) {
    const fix = replacement('Remove the punctuation', leaf.valueSpan, bare);
    return error(code, message, leaf.span, [fix, ...quoteFix(leaf, word)]);
  }
  const onlyUnderscores = isPlainWord(leaf.test.type === 'term' ? leaf.test.value.replaceAll('_', '') : word);
  return (onlyUnderscores ? warning : error)(code, message, leaf.span, quoteFix(leaf, word));
}

function stripEnds(word: string): string {
  const characters = Array.from(word);
  const first = characters.findIndex((character) => !isMark(character));
  const last = characters.findLastIndex((character) => !isMark(character));
  return first < 0 ? '' : characters.slice(first, last + 1).join('');
}

function isMark(character: string): boolean {
  return isSeparator(character.codePointAt(0) ?? 0);
}
