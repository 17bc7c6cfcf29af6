import { expect, test } from 'vitest';
import { findForbiddenWords } from '../plain-words.ts';

const wordsOf = (text: string, path = 'apps/server/src/a.ts') =>
  findForbiddenWords([{ path, text }]).map((problem) => problem.replace(/^.*?: ([\w ]+) → .*$/, '$1'));

test('reports the place, the word and what to write instead', () => {
  const text = ['const a = 1;', '', '// Nobody calls this.'].join('\n');
  expect(findForbiddenWords([{ path: 'apps/server/src/a.ts', text }])).toEqual([
    'apps/server/src/a.ts:3: nobody → name the actor: the caller, the operator, X, the node',
  ]);
});

test.for([
  ['camelCase', 'const heardUntil = now();', ['heard']],
  ['the end of camelCase', 'const tokenHeard = now();', ['heard']],
  ['PascalCase', 'function acceptDoubts(): void {}', ['doubts']],
  ['snake_case', 'select heard_until from coverage', ['heard']],
  ['UPPER_CASE', 'const NOT_HEARD = 1;', ['heard']],
  ['a comment', '// Whoever reads this is told so.', ['whoever', 'told']],
  ['a test name', "test('tells the owner', () => {});", ['tells']],
  ['a string', "throw new Error('nobody answers');", ['nobody']],
  ['a possessive', "// in nobody's way", ['nobody']],
  ['a phrase', '// It ends by itself.', ['by itself']],
  ['a wrapped phrase', '/**\n * Each has a folder of its\n * own.\n */', ['of its own']],
] as const)('finds the words in %s', ([, text, expected]) => {
  expect(wordsOf(text)).toEqual(expected);
});

test.for([
  'const intelligent = sheared + amendment;',
  'a fortune teller foretold it',
  'https://heart.example/undoubtedly',
  'the recommended setting',
  'its own folder; the version goes once',
])('accepts other words: %s', (text) => {
  expect(wordsOf(text)).toEqual([]);
});

test('accepts a word where it is listed as an exception, and there only', () => {
  const text = "const user = 'nobody'; // whoever";
  expect(wordsOf(text, 'packages/engines/src/unprivileged-user.ts')).toEqual(['whoever']);
  expect(wordsOf(text)).toEqual(['nobody', 'whoever']);
});
