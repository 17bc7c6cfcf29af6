import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFile(join(root, path), 'utf8');

test('add-a-platform.md lists exactly the files that the test of a third platform replaces', async () => {
  const page = await read('docs/how-to/add-a-platform.md');
  const [, rows = ''] = page.split('## Rows');
  const named = Array.from((rows.split('\n## ')[0] ?? '').matchAll(/^\* `([^`]+)`/gm), ([, path]) => path);
  const folder = 'apps/server/test';
  const source = await read(`${folder}/third-platform.int.test.ts`);
  const replaced = Array.from(source.matchAll(/vi\.mock\(import\('([^']+)'\)/g), ([, path = '']) =>
    join(folder, path),
  );
  expect(replaced.length).toBeGreaterThan(0);
  expect(new Set(named)).toEqual(new Set(replaced));
});
