import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

interface Chunk {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
}

type Manifest = Readonly<Record<string, Chunk>>;

/** Gzipped kilobytes that may be loaded before the first screen shows. */
const bounds = [
  { what: 'the first screen', roots: ['index.html', 'src/screens/feed/feed.tsx'], without: [], kbMax: 150 },
  { what: 'the editor', roots: ['src/screens/editor/editor.tsx'], without: ['index.html'], kbMax: 190 },
] as const;

/** The parts of the built console that are larger than allowed. */
export async function findLargeParts(dist: string): Promise<string[]> {
  const manifest: Manifest = JSON.parse(await readFile(join(dist, '.vite/manifest.json'), 'utf8'));
  const problems: string[] = [];
  for (const { what, roots, without, kbMax } of bounds) {
    const known = new Set(without.flatMap((root) => [...scriptsOf(manifest, root)]));
    const files = new Set(
      roots.flatMap((root) => [...scriptsOf(manifest, root)]).filter((file) => !known.has(file)),
    );
    const sizes = await Promise.all([...files].map((file) => gzippedBytes(join(dist, file))));
    const kb = sizes.reduce((sum, size) => sum + size, 0) / 1_000;
    if (kb > kbMax) problems.push(`${what} is ${kb.toFixed(1)} kB of gzipped script, more than ${kbMax}`);
  }
  return problems;
}

/** The scripts that an entry loads: its own file and all its imports. */
function scriptsOf(manifest: Manifest, root: string, found = new Set<string>()): Set<string> {
  const chunk = manifest[root];
  if (!chunk) throw new Error(`the console's build has no ${root}`);
  if (found.has(chunk.file)) return found;
  found.add(chunk.file);
  for (const next of chunk.imports ?? []) scriptsOf(manifest, next, found);
  return found;
}

async function gzippedBytes(path: string): Promise<number> {
  return (await promisify(gzip)(await readFile(path), { level: 9 })).length;
}
