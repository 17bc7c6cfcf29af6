import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { privateAptSource } from './apt-source.ts';

const run = promisify(execFile);

interface DebianProgram {
  /** Of Debian, such as `forky`: not the machine's own. */
  readonly suite: string;
  readonly package: string;
  /** Its path in the package. */
  readonly file: string;
  readonly target: string;
}

/**
 * Takes one program out of a package, without installing it. Uses apt with its own folders: signatures are checked, and the
 * system's package lists stay unchanged.
 */
export async function fetchFromDebian(program: DebianProgram): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), 'earshot-apt-'));
  try {
    const folders = ['etc', 'parts', 'state/lists/partial', 'cache/archives/partial', 'package'];
    await Promise.all(folders.map((folder) => mkdir(join(work, folder), { recursive: true })));
    await writeFile(join(work, 'parts/private.sources'), await privateAptSource(program.suite));
    const options = [
      `Dir::Etc=${work}/etc`,
      'Dir::Etc::sourcelist=/dev/null',
      `Dir::Etc::sourceparts=${work}/parts`,
      `Dir::State=${work}/state`,
      'Dir::State::status=/var/lib/dpkg/status',
      `Dir::Cache=${work}/cache`,
      'APT::Sandbox::User=root',
    ].flatMap((option) => ['-o', option]);
    await run('apt-get', [...options, '-q', 'update'], { cwd: work });
    await run('apt-get', [...options, '-q', 'download', program.package], { cwd: work });
    const deb = (await readdir(work)).find((name) => name.endsWith('.deb'));
    if (deb === undefined) throw new Error('apt-get download left no package');
    await run('dpkg', ['-x', join(work, deb), join(work, 'package')]);
    await install(join(work, 'package', program.file), program.target);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Renamed into place, so that another process never starts an incomplete binary. */
async function install(from: string, target: string): Promise<void> {
  const draft = `${target}.${process.pid}`;
  await mkdir(join(target, '..'), { recursive: true });
  await copyFile(from, draft);
  await chmod(draft, 0o755);
  await rename(draft, target);
}
