import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFile(join(root, path), 'utf8');
const recipes = globSync('examples/*.{ts,py}', { cwd: root }).filter((path) => !path.endsWith('/reports.ts'));

test('every recipe has at most 60 lines', async () => {
  expect(recipes).toHaveLength(4);
  for (const recipe of recipes)
    expect((await read(recipe)).trimEnd().split('\n').length).toBeLessThanOrEqual(60);
});

test('docs/agents.md links to every recipe', async () => {
  const links = (await read('docs/agents.md')).match(/(?<=\]\(\.\.\/)examples\/[\w-]+\.(?:ts|py)/g) ?? [];
  expect(links.toSorted()).toEqual(recipes.toSorted());
});
