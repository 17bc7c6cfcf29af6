import type { LeafNode } from '../../ast.ts';
import { certain, type Diagnostic, error, type Fix, replacement, warning } from '../../diagnostics.ts';
import { nearFix } from '../../near.ts';
import { quoted } from '../../text.ts';
import { isEmoji, isEmojiModifier, isPlainWord, isSeparator } from '../characters.ts';
import { cutting } from '../cut.ts';
import { slopMax } from '../dialect.ts';
import { isListed } from './list.ts';
import { signsDropped } from './quotes.ts';
import { type LeafRule, phraseAround, source, type View } from './rule.ts';
import { spacedSlop } from './words.ts';

/** A bare keyword is letters and digits, or one plain emoji; everything else must be quoted (x.md §10.1). */
export const unquotedPunctuation: LeafRule = (leaf, view) => {
  if (leaf.test.type !== 'term' || isPlainWord(leaf.test.value) || isListed(leaf, view)) return;
  const word = view.text.slice(leaf.valueSpan[0], leaf.valueSpan[1]);
  view.report(emojiFinding(leaf, word) ?? borrowedSyntax(leaf, word, view) ?? punctuation(leaf, word, view));
};

function quoteFix(leaf: LeafNode, word: string): Fix[] {
  return word.endsWith('\\') ? [] : [certain(replacement('Quote it', leaf.valueSpan, `"${word}"`))];
}

function emojiFinding(leaf: LeafNode, word: string): Diagnostic | null {
  if (!Array.from(word).some((character) => isOfEmoji(character.codePointAt(0) ?? 0))) return null;
  const message = 'An emoji with a skin tone, joiner, flag or neighbour must stand in quotes.';
  return error('unquoted_emoji', message, leaf.span, quoteFix(leaf, word));
}

function isOfEmoji(codePoint: number): boolean {
  return isEmoji(codePoint) || isEmojiModifier(codePoint);
}

const joinMarks: ReadonlyMap<string, string> = new Map([
  ['|', 'OR'],
  ['||', 'OR'],
  ['&', ''],
  ['&&', ''],
  ['+', ''],
  ['and/or', 'OR'],
  ['AND/OR', 'OR'],
]);

/** Syntax of other search languages. */
function borrowedSyntax(leaf: LeafNode, word: string, view: View): Diagnostic | null {
  const { name } = view.dialect;
  const foreign = (message: string, fix: Fix): Diagnostic =>
    error('foreign_syntax', message, leaf.span, [certain(fix)]);
  const joined = joinMarks.get(word);
  if (joined !== undefined) {
    const fix =
      joined === ''
        ? cutting(`Remove ${word}`, view.text, leaf.span)
        : replacement('Write OR', leaf.valueSpan, joined);
    const message = `${name} does not know ${word}. A space means that both match, OR that either does.`;
    // `Johnson & Johnson` may be one name.
    const phrase = word === '&' || word === '+' ? phraseAround(leaf.span, view.text) : null;
    return phrase === null
      ? foreign(message, fix)
      : error('foreign_syntax', message, leaf.span, [phrase, fix]);
  }
  if (word.includes('://')) {
    const fix = replacement('Search it as a link', leaf.valueSpan, `url:"${word}"`);
    const message = 'A link must be written with url: and quotes.';
    return error('bare_url', message, leaf.span, word.endsWith('\\') ? [] : [certain(fix)]);
  }
  const rest = word.slice(1);
  if ((word.startsWith('!') || word.startsWith('+')) && isPlainWord(rest)) {
    const instead = word.startsWith('!') ? `-${rest}` : rest;
    const message = `${name} excludes with a dash and requires by a space; it does not know ! and +.`;
    return foreign(message, replacement(`Write ${instead}`, leaf.valueSpan, instead));
  }
  const hashtag = /^%23([\p{L}\p{N}_]+)$/u.exec(word)?.[1];
  if (hashtag !== undefined)
    return foreign(
      'This is a hashtag as links write it.',
      replacement(`Write #${hashtag}`, leaf.valueSpan, `#${hashtag}`),
    );
  const boosted = /^([\p{L}\p{N}]+)\^\d+(?:\.\d+)?$/u.exec(word)?.[1];
  if (boosted !== undefined)
    return foreign(`${name} has no boosts.`, replacement(`Write ${boosted}`, leaf.valueSpan, boosted));
  if (word.length > 2 && word.startsWith('/') && word.endsWith('/')) {
    const message = `${name} has no regular expressions. List the words with OR.`;
    return error('foreign_syntax', message, leaf.span);
  }
  const near = distance(leaf, word, view);
  if (near !== null) return near;
  if (/[*?](?=.)|\*$/.test(word)) return wildcard(leaf, view);
  const parts = word.split('|').filter((part) => part !== '');
  if (word.includes('|') && parts.length > 1 && parts.every(isPlainWord)) {
    const fix = replacement('Write OR', leaf.valueSpan, `(${parts.join(' OR ')})`);
    return foreign(`${name} writes "either" as OR.`, fix);
  }
  return null;
}

/** `~2` after a word or a space, and `NEAR/5`: what X writes as `"a b"~5`. */
function distance(leaf: LeafNode, word: string, view: View): Diagnostic | null {
  const message = `${view.dialect.name} knows distance between two words only: "one two"~5.`;
  const report = (fixes: readonly Fix[]): Diagnostic => error('foreign_syntax', message, leaf.span, fixes);
  if (!/[~/]/.test(word)) return null;
  const spaced = /^~\d$/.test(word) ? spacedSlop(leaf.valueSpan, view) : null;
  if (spaced !== null) return report(spaced);
  const fuzzy = /^([\p{L}\p{N}]+)~\d?$/u.exec(word)?.[1];
  if (fuzzy !== undefined) return report([replacement(`Write ${fuzzy}`, leaf.valueSpan, fuzzy)]);
  const count = /^(?:NEAR|WITHIN|W|N)\/(\d)$/i.exec(word)?.[1];
  return count === undefined
    ? null
    : report(nearFix(leaf.valueSpan, Math.min(slopMax, Math.max(1, Number(count))), view.text));
}

function wildcard(leaf: LeafNode, { dialect }: View): Diagnostic {
  const message = `${dialect.name} has no wildcards: words match whole. List the forms you need with OR.`;
  return error('no_wildcards', message, leaf.span);
}

function punctuation(leaf: LeafNode, word: string, view: View): Diagnostic {
  const code = 'unquoted_punctuation';
  const bare = stripEnds(word);
  const shown = quoted(source(view, leaf), 40);
  if (bare === '') {
    const fix = cutting(`Remove ${word}`, view.text, leaf.span);
    return error(code, `${shown} has no letter or digit to search for. Remove it.`, leaf.span, [fix]);
  }
  const left = signsDropped(word);
  if (left !== null) {
    const message = `${view.dialect.name} drops the signs of ${shown} and would find the word ${quoted(left, 40)}. Write words that distinguish it.`;
    return error('dropped_signs', message, leaf.span);
  }
  const message = `${shown} has punctuation, so ${view.dialect.name} wants it in quotes.`;
  if (bare !== word && isPlainWord(bare)) {
    const fix = replacement('Remove the punctuation', leaf.valueSpan, bare);
    if (/[.!?…]+$/.test(word)) return error(code, message, leaf.span, [certain(fix)]);
    return error(code, message, leaf.span, [fix]);
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
