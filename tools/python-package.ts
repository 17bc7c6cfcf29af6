import { execFile } from 'node:child_process';
import { copyFile, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

export interface Addresses {
  readonly homepage: string;
  readonly repository: { readonly type: string; readonly url: string };
  readonly bugs: { readonly url: string };
}

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '..');
/** Debian's has Debian's packages, even if another one is first in the PATH. */
const pythons = ['python3', '/usr/bin/python3'];

/** The first Python with the build backend. */
export async function findPython(): Promise<string | undefined> {
  for (const python of pythons) {
    const found = await run(python, ['-c', 'import build, hatchling']).then(
      () => true,
      () => false,
    );
    if (found) return python;
  }
  return undefined;
}

/** Writes the wheel and the source distribution to a folder; returns their paths. */
export async function buildPythonPackage(
  python: string,
  { version, outDir, addresses }: { version: string; outDir: string; addresses: Addresses },
): Promise<string[]> {
  const dir = await mkdtemp(join(tmpdir(), 'earshot-python-'));
  try {
    const source = join(root, 'sdks/python');
    const filter = (path: string) => !path.includes('__pycache__');
    await cp(join(source, 'src'), join(dir, 'src'), { recursive: true, filter });
    for (const file of ['README.md', join(root, 'LICENSE')]) {
      await copyFile(resolve(source, file), join(dir, file.split('/').at(-1) ?? ''));
    }
    const project = await readFile(join(source, 'pyproject.toml'), 'utf8');
    if (!project.includes(`\nversion = "${version}"\n`))
      throw new Error(`sdks/python/pyproject.toml does not have the version ${version}.`);
    const { homepage, repository, bugs } = addresses;
    const urls = { Homepage: homepage, Repository: repository.url.replace(/^git\+/, ''), Issues: bugs.url };
    const table = Object.entries(urls).map(([name, url]) => `${name} = ${JSON.stringify(url)}\n`);
    await writeFile(join(dir, 'pyproject.toml'), `${project}\n[project.urls]\n${table.join('')}`);
    await run(python, ['-m', 'build', '--no-isolation', '--skip-dependency-check', '--outdir', outDir, dir]);
    return [`earshot-${version}.tar.gz`, `earshot-${version}-py3-none-any.whl`].map((file) =>
      join(outDir, file),
    );
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
