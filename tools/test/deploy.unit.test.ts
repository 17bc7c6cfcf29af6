import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { settings } from '../../apps/server/src/config.ts';

const root = join(import.meta.dirname, '../..');

test.for(['compose.yaml', 'Dockerfile'])(
  'every EARSHOT_ variable in %s is one that the server knows',
  async (file) => {
    const used = (await readFile(join(root, file), 'utf8')).match(/EARSHOT_\w+/g) ?? [];
    const known = Object.values(settings).map(({ variable }) => variable);
    expect(used).not.toEqual([]);
    expect(known).toEqual(expect.arrayContaining(used));
  },
);
