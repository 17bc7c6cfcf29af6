import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { rolldown } from 'rolldown';

const sources = resolve(import.meta.dirname, '../src');

/** Where `pnpm build:cli` writes it. */
export const builtFile = resolve(import.meta.dirname, '../../../dist/earshot.mjs');

/**
 * The command line as one file that needs nothing but Node. What starts servers or opens the database (`src/local`) stays in
 * the repository and is loaded from there; a copy of the file elsewhere does everything else.
 */
export async function buildCli(file: string): Promise<void> {
  const bundle = await rolldown({
    input: join(sources, 'main.ts'),
    platform: 'node',
    plugins: [
      {
        name: 'local-stays-outside',
        resolveId(source, importer) {
          if (importer === undefined || !/(^|\/)local\/[\w-]+\.ts$/.test(source)) return null;
          const id = relative(dirname(file), resolve(dirname(importer), source));
          return { id: id.startsWith('.') ? id : `./${id}`, external: true };
        },
      },
    ],
  });
  try {
    const { output } = await bundle.generate({ format: 'esm', codeSplitting: false });
    if (output.length !== 1) throw new Error(`one file was expected, not ${output.length}`);
    // Renamed into place: nobody runs half of it.
    const draft = `${file}.${process.pid}`;
    await mkdir(dirname(file), { recursive: true });
    await writeFile(draft, output[0].code, { mode: 0o755 });
    await rename(draft, file);
  } finally {
    await bundle.close();
  }
}
