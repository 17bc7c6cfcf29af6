import type { SourceFile } from './source-files.ts';

/** Words that newcomers do not understand in this repository, and what to write instead. STYLE.md has the whole table. */
const alternatives: ReadonlyArray<[words: readonly string[], instead: string]> = [
  [['hear', 'hears', 'heard', 'hearing'], 'receive, be connected; "covered" for a period'],
  [['heed', 'heeds', 'heeded'], 'apply'],
  [['tell', 'tells', 'told', 'telling'], 'report, show, notify, return'],
  [['whoever', 'nobody', 'somebody', 'anybody'], 'name the actor: the caller, the operator, X, the node'],
  [['doubt', 'doubts', 'doubtful'], 'likely mistake, `suspicious`'],
  [['mend', 'mends', 'mended', 'mending'], 'fix, repair'],
  [['stranger', 'strangers'], 'untrusted content, another account, an outsider'],
  [['dearer', 'dearest'], 'more expensive, most expensive'],
];

interface Exception {
  path: RegExp;
  /** Only these words; without it, all of them. */
  words?: readonly string[];
  reason: string;
}

/** Texts that Earshot does not write, or that must contain the words. */
const exceptions: readonly Exception[] = [
  { path: /^tools\/(test\/)?plain-words(\.unit\.test)?\.ts$/, reason: 'lists the words, and has samples' },
  { path: /^STYLE\.md$/, reason: 'lists the words, and what to write instead' },
  {
    path: /^packages\/engines\/src\/unprivileged-user\.ts$/,
    words: ['nobody'],
    reason: 'a user of every Linux system',
  },
  { path: /(^|\/)(pnpm-lock\.yaml|package-lock\.json)$/, reason: 'names and descriptions of packages' },
];

/** The same for phrases, which may be wrapped in a comment. */
const phrases: ReadonlyArray<[phrases: readonly string[], instead: string]> = [
  [['by itself'], 'automatically'],
  [['of its own', 'of their own'], 'its own, separate'],
  [['go on', 'goes on'], 'continue'],
  [['look again', 'looks again'], 'poll, check again'],
];

const wordList = alternatives.flatMap(([words]) => words);
const phraseList = phrases.flatMap(([some]) => some);
const insteadOf = new Map(
  [...alternatives, ...phrases].flatMap(([some, instead]) => some.map((one) => [one, instead])),
);
const capitalized = wordList.map((word) => word.charAt(0).toUpperCase() + word.slice(1));
const wrappedPhrases = phraseList.map((phrase) => phrase.replaceAll(' ', '(?:\\s|[*/#])+'));
/** Whole words, also inside camelCase, PascalCase, snake_case and UPPER_CASE. */
const pattern = new RegExp(
  [
    `(?<![A-Za-z])(?:${wordList.join('|')})(?![a-z])`,
    `(?:${capitalized.join('|')})(?![a-z])`,
    `(?<![A-Za-z])(?:${wordList.join('|').toUpperCase()})(?![A-Za-z])`,
    `\\b(?:${wrappedPhrases.join('|')})\\b`,
  ].join('|'),
  'g',
);

/** Each forbidden word or phrase with its place, and what to write instead. */
export function findForbiddenWords(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, text }) => {
    const allowed = exceptions.filter((exception) => exception.path.test(path));
    return Array.from(text.matchAll(pattern), ({ 0: found, index }) => ({ word: normalize(found), index }))
      .filter(({ word }) => !allowed.some(({ words }) => words?.includes(word) ?? true))
      .map(({ word, index }) => `${path}:${lineOf(text, index)}: ${word} → ${insteadOf.get(word)}`);
  });
}

function normalize(found: string): string {
  return found.toLowerCase().replace(/[\s*/#]+/g, ' ');
}

function lineOf(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}
