import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { rolldown } from 'rolldown';

const sources = resolve(import.meta.dirname, '../src');

/** Output file of `pnpm build:cli`. */
export const builtFile = resolve(import.meta.dirname, '../../../dist/earshot.mjs');

/**
 * Builds the command line as one file that needs only Node. Commands that start servers or open the database load `localDir`
 * from the repository (`src/local`). All other commands work in a copy of the file anywhere. Returns the ids of the bundled
 * modules.
 */
export async function buildCli(file: string, localDir = join(sources, 'local')): Promise<string[]> {
  const bundle = await rolldown({
    input: join(sources, 'main.ts'),
    platform: 'node',
    // An older Node must be able to parse the file. Otherwise it shows a syntax error instead of the message below.
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
    // Renamed into place, so that a partial file never runs.
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
  process.stderr.write(\`Earshot needs Node ${least} or newer. This is Node \${process.versions.node}.\\n\`);
  process.exit(1);
}`;

/** The oldest major version of Node that this repository supports. */
async function leastNode(): Promise<number> {
  const { engines } = JSON.parse(await readFile(resolve(sources, '../../../package.json'), 'utf8'));
  return Number(engines.node.replace('>=', ''));
}
