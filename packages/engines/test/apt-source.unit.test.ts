import { expect, test } from 'vitest';
import { stanzasOfLines, withSuite } from '../src/apt-source.ts';

const suites = { from: 'bookworm', to: 'forky' };

test('the stanza of the installed suite is moved to the other suite and keeps its key', () => {
  const text = `Types: deb
# a comment
URIs: http://mirror.example/security
Suites: bookworm-security
Components: main

Types: deb
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /keys/debian.gpg
`;
  expect(withSuite(text, suites)).toBe(`Types: deb
URIs: http://mirror.example/debian
Suites: forky
Components: main
Signed-By: /keys/debian.gpg
`);
});

test('a source of another system is not taken', () => {
  expect(withSuite('Types: deb\nURIs: http://x.example/y\nSuites: nodistro\n', suites)).toBeUndefined();
});

test('a one-line source is understood, with its key', () => {
  const text =
    '# deb http://no.example a b\ndeb [arch=amd64 signed-by=/keys/a.gpg] http://m.example/d bookworm main\n';
  expect(withSuite(stanzasOfLines(text), suites)).toBe(
    'Types: deb\nURIs: http://m.example/d\nSuites: forky\nComponents: main\nSigned-By: /keys/a.gpg\n',
  );
});
