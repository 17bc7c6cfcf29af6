import { dirname, join, relative, resolve } from 'node:path';
import { bundle } from './bundle.ts';

const sources = resolve(import.meta.dirname, '../src');

/** Where `pnpm build:cli` writes it. */
export const builtFile = resolve(import.meta.dirname, '../../../dist/earshot.mjs');

/**
 * The command line as one file that needs nothing but Node. What starts servers or opens the database (`src/local`) stays in
 * the repository and is loaded from there; a copy of the file elsewhere does everything else.
 */
export function buildCli(file: string): Promise<void> {
  return bundle(join(sources, 'main.ts'), file, [
    {
      name: 'local-stays-outside',
      resolveId(source, importer) {
        if (importer === undefined || !/(^|\/)local\/[\w-]+\.ts$/.test(source)) return null;
        const id = relative(dirname(file), resolve(dirname(importer), source));
        return { id: id.startsWith('.') ? id : `./${id}`, external: true };
      },
    },
  ]);
}
