import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readCommands, readShellBlocks } from '../../e2e/src/page-blocks.ts';
import { pagesWithCommands } from '../../e2e/src/pages-with-commands.ts';
import { readPages } from '../documentation.ts';

const root = join(import.meta.dirname, '../..');

/** What others maintain: the help of the command line, whose examples have a test each, and the pages of deployments. */
const elsewhere = ['docs/cli.md', 'docs/operations/install.md', 'docs/operations/proxy-and-tls.md'];

test('every page with shell blocks is in the table, and the table has no other page', async () => {
  const pages = (await readPages(root)).map(({ path }) => path);
  const documented = pages.filter((path) => path === 'README.md' || path.startsWith('docs/'));
  const withBlocks: string[] = [];
  for (const path of documented) {
    if ((await readShellBlocks(path)).length > 0 && !elsewhere.includes(path)) withBlocks.push(path);
  }
  expect(withBlocks.toSorted()).toEqual(Object.keys(pagesWithCommands).toSorted());
});

describe.each(Object.entries(pagesWithCommands))('%s', (path, { test: file, blocks = 0, notRun = {} }) => {
  test('every shell block is run by a test, or listed with the reason why not', async () => {
    const onPage = await readShellBlocks(path);
    const listed = Object.keys(notRun);
    for (const start of listed) expect(onPage.filter((text) => text.startsWith(start))).toHaveLength(1);
    const toRun = onPage.filter((text) => !listed.some((start) => text.startsWith(start)));
    expect(toRun).toHaveLength(blocks);
    expect(blocks > 0).toBe(file !== undefined);
    if (file !== undefined) expect(await readFile(join(root, file), 'utf8')).toContain(`'${path}'`);
  });
});

test('no page has a shell block under another name than sh, which no test would find', async () => {
  const pages = await readPages(root);
  const others = pages.filter(({ text }) => /^ *```(bash|shell|console|zsh)\b/m.test(text));
  expect(others.map(({ path }) => path)).toEqual([]);
});

test('a test that knows fewer or more blocks than the page has fails', async () => {
  const path = 'docs/previews.md';
  await expect(readCommands(path, ['trial'])).rejects.toThrow('2 shell blocks to run, and the test runs 1');
  await expect(readCommands(path, ['trial', 'keep', 'undo'])).rejects.toThrow('2 shell blocks');
  const commands = await readCommands(path, ['trial', 'keep']);
  expect(Object.keys(commands)).toEqual(['trial', 'keep']);
});
