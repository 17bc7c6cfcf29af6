import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');
const record = join(root, '.ci/previous-version');

interface Package {
  /** Its folder below the root of a tree. */
  readonly folder: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

/** The sources of the version before, as they were released, with a server to start. */
export interface PreviousVersion extends AsyncDisposable {
  readonly dir: string;
  /** For `startServer`. */
  readonly script: string;
}

/**
 * The version that may run beside this one while an installation is upgraded: `.ci/previous-version` names its commit. Its packages
 * are linked to one another; what they have from elsewhere they share with this checkout.
 */
export async function checkOutPreviousVersion(): Promise<PreviousVersion> {
  const commit = (await readFile(record, 'utf8')).trim();
  await using stack = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), 'earshot-previous-'));
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  await extract(commit, dir);
  await linkDependencies(dir);
  const made = stack.move();
  return {
    dir,
    script: join(dir, 'apps/server/src/main.ts'),
    [Symbol.asyncDispose]: () => made.disposeAsync(),
  };
}

async function extract(commit: string, dir: string): Promise<void> {
  const archive = join(dir, 'previous.tar');
  const folders = ['apps/server', 'packages', 'deploy'];
  try {
    await run('git', ['archive', '--output', archive, commit, ...folders], { cwd: root });
  } catch (error) {
    throw new Error(
      `The version before (${commit}, from .ci/previous-version) is not in this clone: get its history with \`git fetch --unshallow\`.`,
      { cause: error },
    );
  }
  await run('tar', ['-xf', archive, '-C', dir]);
  await rm(archive);
}

async function linkDependencies(dir: string): Promise<void> {
  const packages = await readPackages(dir);
  for (const { folder, dependencies } of packages.values()) {
    for (const [name, version] of Object.entries(dependencies)) {
      const own = version.startsWith('workspace:') ? packages.get(name) : undefined;
      const target = own ? join(dir, own.folder) : await installed(folder, name);
      const link = join(dir, folder, 'node_modules', name);
      await mkdir(dirname(link), { recursive: true });
      await symlink(target, link);
    }
  }
}

async function readPackages(dir: string): Promise<Map<string, Package>> {
  const below = (await readdir(join(dir, 'packages'))).map((name) => join('packages', name));
  const packages = await Promise.all(
    ['apps/server', ...below].map(async (folder): Promise<[string, Package]> => {
      const { name, dependencies = {} } = JSON.parse(
        await readFile(join(dir, folder, 'package.json'), 'utf8'),
      );
      return [name, { folder, dependencies }];
    }),
  );
  return new Map(packages);
}

/** Where this checkout has it. */
async function installed(folder: string, name: string): Promise<string> {
  return await realpath(join(root, folder, 'node_modules', name)).catch((cause: unknown) => {
    throw new Error(
      `The version before needs ${name} in ${folder}, which this one has no longer: keep it in devDependencies there for one more release.`,
      { cause },
    );
  });
}
