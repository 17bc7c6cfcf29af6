import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFile(join(root, path), 'utf8');
const recipes = globSync('examples/*.ts', { cwd: root });

test('every recipe has at most 40 lines', async () => {
  expect(recipes).toHaveLength(4);
  for (const recipe of recipes)
    expect((await read(recipe)).trimEnd().split('\n').length).toBeLessThanOrEqual(40);
});

test('docs/how-to/run-an-agent.md shows every recipe unchanged', async () => {
  const page = await read('docs/how-to/run-an-agent.md');
  const shown = Array.from(page.matchAll(/^```ts (\S+)\n([\s\S]*?)^```$/gm), ([, name, code]) => [
    `examples/${name}`,
    code,
  ]);
  const files = await Promise.all(recipes.map(async (recipe) => [recipe, await read(recipe)]));
  expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(files));
});
