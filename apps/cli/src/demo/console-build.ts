import { execFile } from 'node:child_process';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const repository = resolve(import.meta.dirname, '../../../..');
const folder = join(repository, 'apps/console');
const built = join(folder, 'dist');
/** The source files of the console. */
const files = ['index.html', 'package.json', 'vite.config.ts'].map((name) => join(folder, name));
const sources = [
  join(folder, 'src'),
  join(folder, 'public'),
  ...['contract', 'mcp', 'query', 'sdk'].map((name) => join(repository, 'packages', name, 'src')),
];

/** False if the console is not built, or a source file is newer than the build. */
export async function isConsoleBuilt(): Promise<boolean> {
  const builtMs = await changedMs(join(built, 'index.html'));
  const names = await Promise.all(
    sources.map(async (source) =>
      (await readdir(source, { recursive: true })).map((name) => join(source, name)),
    ),
  );
  const changes = await Promise.all([...files, ...names.flat()].map(changedMs));
  return Math.max(...changes) < builtMs;
}

async function changedMs(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch {
    return 0;
  }
}

/** Builds into another folder first, so that a running server never reads a partial build. */
export async function buildConsole(env: Readonly<Record<string, string | undefined>>): Promise<void> {
  const aside = join(folder, `node_modules/.cache/build-${process.pid}`);
  const args = ['build', '--outDir', aside, '--emptyOutDir', '--logLevel', 'error'];
  await run(join(folder, 'node_modules/.bin/vite'), args, {
    cwd: folder,
    env: { ...env, NODE_ENV: 'production' },
  });
  try {
    await rm(built, { recursive: true, force: true });
    await rename(aside, built);
  } catch (error) {
    await rm(aside, { recursive: true });
    // Another demo may have built the console in the meantime.
    if (!(await isConsoleBuilt())) throw error;
  }
}
