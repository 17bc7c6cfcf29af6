import type { LeafNode } from '../../ast.ts';
import { type Fix, replacement } from '../../diagnostics.ts';
import { quoted } from '../../text.ts';
import { isEmoji, isPlainWord, isSeparator } from '../characters.ts';
import { clauseWithSpace } from '../cut.ts';
import { type LeafRule, source, type View } from './rule.ts';

interface Finding {
  readonly code: string;
  readonly message: string;
  readonly severity?: 'warning';
  readonly fixes: readonly Fix[];
}

/** A bare keyword is letters and digits, or one plain emoji; everything else must be quoted (x.md §10.1). */
export const unquotedPunctuation: LeafRule = (leaf, view) => {
  if (leaf.test.type !== 'term' || isPlainWord(leaf.test.value)) return;
  const word = view.text.slice(leaf.valueSpan[0], leaf.valueSpan[1]);
  const finding =
    emojiFinding(leaf, word) ?? borrowedSyntax(leaf, word, view) ?? punctuation(leaf, word, view);
  if (finding !== null) view.report({ severity: 'error', span: leaf.span, ...finding });
};

function quoteFix(leaf: LeafNode, word: string): Fix[] {
  return word.endsWith('\\') ? [] : [replacement('Quote it', leaf.valueSpan, `"${word}"`)];
}

function emojiFinding(leaf: LeafNode, word: string): Finding | null {
  if (!Array.from(word).some((character) => isEmoji(character.codePointAt(0) ?? 0))) return null;
  const message = 'An emoji with a skin tone, joiner, flag or neighbour must stand in quotes.';
  return { code: 'unquoted_emoji', message, fixes: quoteFix(leaf, word) };
}

const joinMarks: ReadonlyMap<string, string> = new Map([
  ['|', 'OR'],
  ['||', 'OR'],
  ['&', ''],
  ['&&', ''],
  ['+', ''],
]);

/** Syntax of other search languages. */
function borrowedSyntax(leaf: LeafNode, word: string, view: View): Finding | null {
  const joined = joinMarks.get(word);
  if (joined !== undefined) {
    const message = `X does not know ${word}. A space means that both match, OR that either does.`;
    const fix =
      joined === ''
        ? replacement(`Remove ${word}`, clauseWithSpace(view.text, leaf.span), '')
        : replacement('Write OR', leaf.valueSpan, joined);
    return { code: 'foreign_syntax', message, fixes: [fix] };
  }
  if (word.includes('://')) {
    const fixes = word.endsWith('\\')
      ? []
      : [replacement('Search it as a link', leaf.valueSpan, `url:"${word}"`)];
    return { code: 'bare_url', message: 'A link must be written with url: and quotes.', fixes };
  }
  const rest = word.slice(1);
  if ((word.startsWith('!') || word.startsWith('+')) && isPlainWord(rest)) {
    const instead = word.startsWith('!') ? `-${rest}` : rest;
    const message = 'X excludes with a dash and requires by a space; it does not know ! and +.';
    return {
      code: 'foreign_syntax',
      message,
      fixes: [replacement(`Write ${instead}`, leaf.valueSpan, instead)],
    };
  }
  if (word.includes('*')) return wildcard(leaf, word);
  const parts = word.split('|').filter((part) => part !== '');
  if (word.includes('|') && parts.length > 1 && parts.every(isPlainWord)) {
    const instead = `(${parts.join(' OR ')})`;
    return {
      code: 'foreign_syntax',
      message: 'X writes "either" as OR.',
      fixes: [replacement('Write OR', leaf.valueSpan, instead)],
    };
  }
  return null;
}

function wildcard(leaf: LeafNode, word: string): Finding {
  const plain = word.replaceAll('*', '');
  return {
    code: 'no_wildcards',
    message: 'X has no wildcards: words match whole. List the forms you need with OR.',
    fixes: plain !== '' && isPlainWord(plain) ? [replacement('Remove *', leaf.valueSpan, plain)] : [],
  };
}

function punctuation(leaf: LeafNode, word: string, view: View): Finding {
  const bare = stripEnds(word);
  const shown = quoted(source(view, leaf), 40);
  if (bare === '') {
    const fixes = [replacement(`Remove ${word}`, clauseWithSpace(view.text, leaf.span), '')];
    return {
      code: 'unquoted_punctuation',
      message: `${shown} has no letter or digit to search for. Remove it.`,
      fixes,
    };
  }
  const message = `${shown} has punctuation, so X wants it in quotes.`;
  if (bare !== word && isPlainWord(bare)) {
    return {
      code: 'unquoted_punctuation',
      message,
      fixes: [replacement('Remove the punctuation', leaf.valueSpan, bare), ...quoteFix(leaf, word)],
    };
  }
  const onlyUnderscores = isPlainWord(leaf.test.type === 'term' ? leaf.test.value.replaceAll('_', '') : word);
  return {
    code: 'unquoted_punctuation',
    message,
    fixes: quoteFix(leaf, word),
    ...(onlyUnderscores ? { severity: 'warning' } : {}),
  };
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
