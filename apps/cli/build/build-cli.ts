import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { rolldown } from 'rolldown';

const sources = resolve(import.meta.dirname, '../src');

/** Where `pnpm build:cli` writes it. */
export const builtFile = resolve(import.meta.dirname, '../../../dist/earshot.mjs');

/**
 * The command line as one file that needs nothing but Node. What starts servers or opens the database (`src/local`) stays in
 * the repository and is loaded from there, `localDir`; a copy of the file elsewhere does everything else. Returns the ids of the
 * modules that went into it.
 */
export async function buildCli(file: string, localDir = join(sources, 'local')): Promise<string[]> {
  const bundle = await rolldown({
    input: join(sources, 'main.ts'),
    platform: 'node',
    // An older Node must be able to parse the file, or it shows a syntax error instead of the sentence below.
    transform: { target: 'node20' },
    plugins: [
      {
        name: 'local-stays-outside',
        resolveId(source, importer) {
          if (importer === undefined || !/(^|\/)local\/[\w-]+\.ts$/.test(source)) return null;
          const id = relative(dirname(file), join(localDir, basename(source)));
          return { id: id.startsWith('.') ? id : `./${id}`, external: true };
        },
      },
    ],
  });
  try {
    const banner = refuseOlderNode(await leastNode());
    const { output } = await bundle.generate({ format: 'esm', codeSplitting: false, banner });
    if (output.length !== 1) throw new Error(`one file was expected, not ${output.length}`);
    // Renamed into place: nobody runs half of it.
    const draft = `${file}.${process.pid}`;
    await mkdir(dirname(file), { recursive: true });
    await writeFile(draft, output[0].code, { mode: 0o755 });
    await rename(draft, file);
    return output[0].moduleIds;
  } finally {
    await bundle.close();
  }
}

/** Runs before everything but the imports, which are Node's own modules. */
const refuseOlderNode = (
  least: number,
): string => `if (Number.parseInt(process.versions.node, 10) < ${least}) {
  process.stderr.write(\`Earshot needs Node ${least} or newer: this is Node \${process.versions.node}.\\n\`);
  process.exit(1);
}`;

/** The major version of Node that this repository asks for. */
async function leastNode(): Promise<number> {
  const { engines } = JSON.parse(await readFile(resolve(sources, '../../../package.json'), 'utf8'));
  return Number(engines.node.replace('>=', ''));
}
