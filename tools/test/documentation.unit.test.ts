import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findBrokenReferences, readPages } from '../documentation.ts';

const root = join(import.meta.dirname, '../..');
const brokenIn = (text: string, path = 'docs/page.md') => findBrokenReferences(root, { path, text });

test('every link and every path in the documentation exists', async () => {
  const pages = await readPages(root);
  expect(pages.map(({ path }) => path)).toEqual(expect.arrayContaining(['README.md', 'docs/concepts.md']));
  expect(pages.flatMap((page) => findBrokenReferences(root, page))).toEqual([]);
});

test('a link is resolved relative to its page, without its fragment', () => {
  expect(
    brokenIn('[a](concepts.md#words) [b](../README.md) [c](https://x.example/no.md) [d](#here)'),
  ).toEqual([]);
  expect(brokenIn('[a](README.md) [b](../docs/no.md#words)')).toEqual([
    'docs/page.md: README.md',
    'docs/page.md: ../docs/no.md',
  ]);
});

test('a path in code is resolved relative to the root, the server and the page, also as a glob', () => {
  expect(
    brokenIn('`tools/check.ts` `slots/slot.ts` `errors/README.md` `upstream/{x,firehose}/rules.ts`'),
  ).toEqual([]);
  expect(brokenIn('`e2e/*.e2e.test.ts`, `packages/engines`, `./docs/adr`')).toEqual([]);
  expect(
    brokenIn('`tools/no.ts` `slots/no*.ts` `packages/no`\n```sh\nnode apps/no.ts --port 1\n```'),
  ).toEqual([
    'docs/page.md: tools/no.ts',
    'docs/page.md: slots/no*.ts',
    'docs/page.md: packages/no',
    'docs/page.md: apps/no.ts',
  ]);
});

test('code that is not a path is ignored', () => {
  expect(
    brokenIn('`application/json` `/openapi.json` `a/b` `main.ts` `<noun>/x.ts` and tools/no.ts'),
  ).toEqual([]);
});

test('the concepts page explains ten terms for users and ten for operators, each once', async () => {
  const page = (await readPages(root)).find(({ path }) => path === 'docs/concepts.md')?.text ?? '';
  const [forUsers = '', forOperators = ''] = page.split('\n## ');
  const rows = Array.from(forOperators.matchAll(/^\| ([a-z ]+) \|/gm), ([, term = '']) => term);
  const terms = Array.from(forUsers.matchAll(/^\* \*\*([A-Z][a-z]+)\*\*/gm), ([, term = '']) =>
    term.toLowerCase(),
  );
  expect(terms).toHaveLength(10);
  expect(rows).toHaveLength(10);
  expect(new Set([...terms, ...rows]).size).toBe(20);
});
