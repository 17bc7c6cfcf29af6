import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { outputOf } from './process.ts';

const oldestMajor = 15;
const debianRoot = '/usr/lib/postgresql';

/** The folder with `initdb` and `postgres`, 15 or newer. Debian keeps it off PATH, one folder per major version. */
export async function findPostgresBinaries(): Promise<string> {
  for (const dir of await candidates()) {
    if ((await majorVersion(dir)) >= oldestMajor) return dir;
  }
  throw new Error(
    `PostgreSQL ${oldestMajor} or newer is not on this machine (initdb and postgres were looked for). ` +
      'Install it, for example: apt-get install postgresql, or: brew install postgresql@17',
  );
}

async function candidates(): Promise<string[]> {
  const [bindir, initdb, majors] = await Promise.all([
    outputOf('pg_config', ['--bindir']),
    outputOf('/bin/sh', ['-c', 'command -v initdb']),
    readdir(debianRoot).catch((): string[] => []),
  ]);
  const newestFirst = majors.toSorted((a, b) => Number(b) - Number(a));
  const onPath = [bindir, initdb && dirname(initdb)].filter((dir) => dir !== undefined);
  return [...onPath, ...newestFirst.map((major) => join(debianRoot, major, 'bin'))];
}

async function majorVersion(dir: string): Promise<number> {
  const [initdb, version] = await Promise.all(
    ['initdb', 'postgres'].map((program) => outputOf(join(dir, program), ['--version'])),
  );
  return initdb === undefined ? 0 : Number(/(\d+)/.exec(version ?? '')?.[1] ?? 0);
}
