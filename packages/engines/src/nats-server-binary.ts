import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { privateAptSource } from './apt-source.ts';
import { outputOf } from './process.ts';

const run = promisify(execFile);

/** Older servers can lose acknowledged messages. */
const oldestVersion = [2, 14, 5] as const;
/** Debian's suite with a version that is new enough. */
const debianSuite = 'forky';

interface FindOptions {
  /** Where a downloaded binary is kept. */
  cacheDir: string;
  /** A binary that the operator configured: used or refused, never replaced by another. */
  configured?: string | undefined;
  log?: (progress: string) => void;
}

/** The path of a nats-server that is new enough: the configured one, on PATH, in the cache, or downloaded from Debian. */
export async function findNatsServer(options: FindOptions): Promise<string> {
  if (options.configured !== undefined) {
    if (await isNewEnough(options.configured)) return options.configured;
    throw new Error(
      `${options.configured} is not a nats-server of version ${oldestVersion.join('.')} or newer`,
    );
  }
  const cached = join(resolve(options.cacheDir), 'nats-server');
  for (const candidate of [await outputOf('/bin/sh', ['-c', 'command -v nats-server']), cached]) {
    if (candidate !== undefined && (await isNewEnough(candidate))) return candidate;
  }
  options.log?.('Fetching nats-server from Debian (nothing is installed)');
  try {
    await fetchFromDebian(cached);
  } catch (error) {
    throw new Error(
      `No nats-server ${oldestVersion.join('.')} or newer is on PATH, and it could not be fetched with apt. ` +
        'Install one from https://nats.io/download, or set EARSHOT_NATS_SERVER to its path.',
      { cause: error },
    );
  }
  if (await isNewEnough(cached)) return cached;
  throw new Error(
    `Debian ${debianSuite} has no nats-server ${oldestVersion.join('.')} or newer for this machine`,
  );
}

async function isNewEnough(binary: string): Promise<boolean> {
  const found = /v(\d+)\.(\d+)\.(\d+)/.exec((await outputOf(binary, ['--version'])) ?? '');
  if (found === null) return false;
  const firstDifference = found
    .slice(1)
    .map((part, index) => Number(part) - (oldestVersion[index] ?? 0))
    .find((d) => d !== 0);
  return (firstDifference ?? 0) >= 0;
}

/** Uses apt with its own folders: signatures are checked, and the system's package lists stay unchanged. */
async function fetchFromDebian(target: string): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), 'earshot-apt-'));
  try {
    const folders = ['etc', 'parts', 'state/lists/partial', 'cache/archives/partial', 'package'];
    await Promise.all(folders.map((folder) => mkdir(join(work, folder), { recursive: true })));
    await writeFile(join(work, 'parts/private.sources'), await privateAptSource(debianSuite));
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
    await run('apt-get', [...options, '-q', 'download', 'nats-server'], { cwd: work });
    const deb = (await readdir(work)).find((name) => name.endsWith('.deb'));
    if (deb === undefined) throw new Error('apt-get download left no package');
    await run('dpkg', ['-x', join(work, deb), join(work, 'package')]);
    await install(join(work, 'package/usr/sbin/nats-server'), target);
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
