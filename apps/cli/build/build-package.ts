import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { buildCli } from './build-cli.ts';

const here = resolve(import.meta.dirname, '..');

/** The MCP registry publishes server.json only if the npm package has its name. */
export const mcpName = 'com.example.earshot/earshot';

/** Writes the package `earshot`: the built command line without `src/local`. Returns the ids of its modules. */
export async function buildPackage(outDir: string): Promise<string[]> {
  const file = 'earshot.mjs';
  // This folder does not exist, so commands that need the repository fail with a message.
  const modules = await buildCli(join(outDir, file), join(outDir, 'local'));
  const { version, license, type, engines } = JSON.parse(
    await readFile(join(here, '../../package.json'), 'utf8'),
  );
  const { description } = JSON.parse(await readFile(join(here, 'package.json'), 'utf8'));
  const bin = { earshot: file };
  const manifest = { name: 'earshot', mcpName, version, description, license, type, engines, bin };
  await writeFile(join(outDir, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  await copyFile(join(here, 'README.md'), join(outDir, 'README.md'));
  return modules;
}
