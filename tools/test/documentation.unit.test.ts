import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findBrokenReferences, readPages } from '../documentation.ts';

const root = join(import.meta.dirname, '../..');
const brokenIn = (text: string, path = 'docs/page.md') => findBrokenReferences(root, { path, text });

test('every link and every path in the documentation exists', async () => {
  const pages = await readPages(root);
  expect(pages.map(({ path }) => path)).toEqual(expect.arrayContaining(['README.md', 'docs/glossary.md']));
  expect(pages.flatMap((page) => findBrokenReferences(root, page))).toEqual([]);
});

test('a link is resolved relative to its page, without its fragment', () => {
  expect(
    brokenIn('[a](glossary.md#words) [b](../README.md) [c](https://x.example/no.md) [d](#here)'),
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

test('the map has at most 200 lines, and the glossary at most 25 words, each once', async () => {
  const pages = new Map((await readPages(root)).map(({ path, text }) => [path, text]));
  expect(pages.get('ARCHITECTURE.md')?.split('\n').length).toBeLessThanOrEqual(200);
  const rows = (pages.get('docs/glossary.md') ?? '').split('\n').filter((line) => line.startsWith('| '));
  const words = rows.slice(1).map((row) => row.split('|')[1]?.trim());
  expect(words.length).toBeGreaterThan(10);
  expect(words.length).toBeLessThanOrEqual(25);
  expect(new Set(words).size).toBe(words.length);
});
