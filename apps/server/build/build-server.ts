import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';

const sources = resolve(import.meta.dirname, '../src');

/** Where `pnpm build:server` writes it. */
export const builtDir = resolve(import.meta.dirname, '../dist');

/**
 * The server as few files: Node loads them in a quarter of the processor time that a thousand modules take whose types it strips.
 * Modules that a start does not need stay separate files. Not minified, so that stack traces show function names.
 */
export async function buildServer(dir: string): Promise<void> {
  const bundle = await rolldown({
    input: join(sources, 'main.ts'),
    platform: 'node',
    plugins: [addressesFrom(dir)],
    // Loaded only by who asks for it.
    external: ['pg-native'],
    // An `eval` in a package of others.
    checks: { eval: false },
  });
  try {
    await rm(dir, { recursive: true, force: true });
    await bundle.write({
      dir,
      format: 'esm',
      entryFileNames: '[name].mjs',
      chunkFileNames: '[name]-[hash].mjs',
    });
  } finally {
    await bundle.close();
  }
}

/**
 * Rewrites the file addresses in sources. Threads and files of packages are written next to the server; other files stay
 * where they are.
 */
function addressesFrom(dir: string): Plugin {
  return {
    name: 'addresses',
    transform(code, id) {
      if (!id.startsWith(sources)) return null;
      return code.replaceAll(address, (_, path: string) => {
        const target = join(dirname(id), path);
        if (path.endsWith('.ts')) {
          const fileName = `${basename(path, '.ts')}.mjs`;
          this.emitFile({ type: 'chunk', id: target, fileName });
          return addressOf(`./${fileName}`);
        }
        if (path.includes('/node_modules/')) {
          const fileName = basename(path);
          this.emitFile({ type: 'asset', source: readFileSync(target), fileName });
          return addressOf(`./${fileName}`);
        }
        return addressOf(`${relative(dir, target)}${path.endsWith('/') ? '/' : ''}`);
      });
    },
  };
}

const address = /new URL\(\s*'([^']+)',\s*import\.meta\.url,?\s*\)/g;

function addressOf(path: string): string {
  return `new URL('${path}', import.meta.url)`;
}
