import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readShellBlocks } from '../../e2e/src/page-blocks.ts';
import { pagesWithCommands } from '../../e2e/src/pages-with-commands.ts';
import { readPages } from '../documentation.ts';

const pages = await readPages(join(import.meta.dirname, '../..'));
/** Pages whose commands have their own tests: the examples of all commands, and the deployment pages. */
const elsewhere = ['docs/cli.md', 'docs/operations/install.md', 'docs/operations/proxy-and-tls.md'];

test('the table lists exactly the pages with shell blocks', async () => {
  const documented = pages
    .map(({ path }) => path)
    .filter((path) => /^(README\.md|docs\/|skills\/)/.test(path));
  const withBlocks: string[] = [];
  for (const path of documented) {
    if ((await readShellBlocks(path)).length > 0 && !elsewhere.includes(path)) withBlocks.push(path);
  }
  expect(withBlocks.toSorted()).toEqual(Object.keys(pagesWithCommands).toSorted());
});

test.each(Object.entries(pagesWithCommands))('%s has the lines that the table names', async (path, page) => {
  const lines = (await readShellBlocks(path)).flatMap((text) => text.split('\n'));
  for (const start of Object.keys({ ...page.notRun, ...page.codes }))
    expect(lines.filter((line) => line.startsWith(start))).not.toEqual([]);
});

test('shell blocks use only the name sh', () => {
  const others = pages.filter(({ text }) => /^ *```(bash|shell|console|zsh)\b/m.test(text));
  expect(others.map(({ path }) => path)).toEqual([]);
});
