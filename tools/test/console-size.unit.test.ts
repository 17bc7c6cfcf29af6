import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { findLargeParts } from '../console-size.ts';

/** Random bytes cannot be compressed. */
async function build(kilobytes: { entry: number; shared: number; feed: number; editor: number }) {
  const dist = await mkdtemp(join(tmpdir(), 'console-size-'));
  const manifest = {
    'index.html': { file: 'entry.js', imports: ['_shared.js'] },
    '_shared.js': { file: 'shared.js' },
    'src/screens/feed/feed.tsx': { file: 'feed.js', imports: ['index.html'] },
    'src/screens/editor/editor.tsx': { file: 'editor.js', imports: ['index.html', '_shared.js'] },
  };
  const files = Object.entries(kilobytes).map(
    ([name, kb]) => [`${name}.js`, randomBytes(kb * 1_000)] as const,
  );
  for (const [name, content] of [['.vite/manifest.json', JSON.stringify(manifest)] as const, ...files]) {
    await mkdir(dirname(join(dist, name)), { recursive: true });
    await writeFile(join(dist, name), content);
  }
  return { dist, [Symbol.asyncDispose]: () => rm(dist, { recursive: true }) };
}

test('counts all scripts of the first screen together, and what the editor adds separately', async () => {
  await using fitting = await build({ entry: 80, shared: 40, feed: 25, editor: 185 });
  expect(await findLargeParts(fitting.dist)).toEqual([]);
  await using large = await build({ entry: 80, shared: 40, feed: 31, editor: 191 });
  expect(await findLargeParts(large.dist)).toEqual([
    expect.stringMatching(/^the first screen is 151\.\d kB of gzipped script, more than 150$/),
    expect.stringMatching(/^the editor is 191\.\d kB of gzipped script, more than 190$/),
  ]);
});
