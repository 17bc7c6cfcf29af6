import type { SourceFile } from './source-files.ts';

/** Words that made this repository hard to read, and what a newcomer understands. STYLE.md, rule 11. */
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
  {
    path: /^packages\/engines\/src\/unprivileged-user\.ts$/,
    words: ['nobody'],
    reason: 'a user of every Linux system',
  },
  { path: /(^|\/)(pnpm-lock\.yaml|package-lock\.json)$/, reason: 'names and descriptions of packages' },
];

const insteadOf = new Map(alternatives.flatMap(([words, instead]) => words.map((word) => [word, instead])));
const names = [...insteadOf.keys()];
const capitalized = names.map((word) => word.charAt(0).toUpperCase() + word.slice(1));
/** Whole words, also inside camelCase, PascalCase, snake_case and UPPER_CASE. */
const pattern = new RegExp(
  `(?<![A-Za-z])(?:${names.join('|')})(?![a-z])|(?:${capitalized.join('|')})(?![a-z])|(?<![A-Za-z])(?:${names.join('|').toUpperCase()})(?![A-Za-z])`,
  'g',
);

/** Each forbidden word with its place, and what to write instead. */
export function findForbiddenWords(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, text }) => {
    const allowed = exceptions.filter((exception) => exception.path.test(path));
    return Array.from(text.matchAll(pattern), ({ 0: found, index }) => ({ word: found.toLowerCase(), index }))
      .filter(({ word }) => !allowed.some(({ words }) => words?.includes(word) ?? true))
      .map(({ word, index }) => `${path}:${lineOf(text, index)}: ${word} → ${insteadOf.get(word)}`);
  });
}

function lineOf(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}
