import { createHash, randomBytes } from 'node:crypto';
import { access, chown, copyFile, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { findPostgresBinaries } from './postgres-binaries.ts';
import type { RunAs } from './process.ts';
import { isRunning, runTool } from './process.ts';
import { canEnter, unprivilegedUser } from './unprivileged-user.ts';

export type Cluster = Awaited<ReturnType<typeof openCluster>>;

/** Of the superuser, and of the logins in deploy/postgres-roles.sql. */
export interface Passwords {
  readonly postgres: string;
  readonly owner: string;
  readonly runtime: string;
  readonly account: string;
}

const passwordsName = 'passwords.json';
const rolesFile = new URL('../../../deploy/postgres-roles.sql', import.meta.url);

/** Prepares the cluster in the folder for a start; creates it with initdb if there is none. */
export async function openCluster(dir: string, log: (progress: string) => void) {
  const [binaries, runAs] = await Promise.all([findPostgresBinaries(), unprivilegedUser()]);
  const home = await reachableHome(dir, runAs);
  if (home !== dir) log(`PostgreSQL runs as another user, who cannot enter ${dir}: its data is in ${home}`);
  const dataDir = join(home, 'data');
  const passwordsFile = join(home, passwordsName);
  if (!(await exists(dataDir))) {
    log('Creating a PostgreSQL cluster');
    const passwords = newPasswords();
    // Written before the cluster, because a cluster with unknown passwords would be lost.
    await rm(passwordsFile, { force: true });
    await writeFile(passwordsFile, JSON.stringify(passwords), { mode: 0o600 });
    await initialise({ binaries, runAs, dataDir, passwords });
  }
  await clearStalePidFile(dataDir);
  return { binaries, runAs, dataDir, passwords: await readPasswords(passwordsFile, dataDir) };
}

function newPasswords(): Passwords {
  const password = () => randomBytes(24).toString('hex');
  return { postgres: password(), owner: password(), runtime: password(), account: password() };
}

/** Only `openCluster` writes the file. */
async function readPasswords(file: string, dataDir: string): Promise<Passwords> {
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text !== null) return JSON.parse(text);
  throw new Error(`${file} is missing: restore it, or delete ${dataDir} to start with an empty database.`);
}

async function reachableHome(dir: string, runAs: RunAs | undefined): Promise<string> {
  await mkdir(dir, { recursive: true });
  if (runAs === undefined) return dir;
  await chown(dir, runAs.uid, runAs.gid);
  if (await canEnter(dir, runAs)) return dir;
  const home = join(
    tmpdir(),
    `earshot-postgres-${createHash('sha256').update(dir).digest('hex').slice(0, 12)}`,
  );
  await mkdir(home, { recursive: true });
  const owner = (await stat(home)).uid;
  if (owner !== process.getuid?.()) throw new Error(`${home} belongs to another user (uid ${owner})`);
  return home;
}

/** Created beside its final path and renamed when complete, so that an interrupted initdb is never used. */
async function initialise({ binaries, dataDir, runAs, passwords }: Cluster): Promise<void> {
  const draft = `${dataDir}.new`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { mode: 0o700 });
  if (runAs !== undefined) await chown(draft, runAs.uid, runAs.gid);
  const passwordFile = `${dataDir}.password`;
  await rm(passwordFile, { force: true });
  await writeFile(passwordFile, passwords.postgres, { mode: 0o600 });
  if (runAs !== undefined) await chown(passwordFile, runAs.uid, runAs.gid);
  const options = `--username=postgres --auth=scram-sha-256 --data-checksums --encoding=UTF8 --locale=C.UTF-8`;
  const args = ['-D', draft, `--pwfile=${passwordFile}`, ...options.split(' ')];
  await runTool(join(binaries, 'initdb'), args, { runAs });
  await rm(passwordFile);
  // Single-user mode needs neither a client nor a second start. It takes a statement per line.
  await runTool(join(binaries, 'postgres'), ['--single', '-D', draft, 'postgres'], {
    runAs,
    input: await rolesWith(passwords),
  });
  await rename(draft, dataDir);
}

/** A base backup of the running server at the URL; as a `standby` it follows that server when it is started. */
export async function backUp(
  { binaries, runAs, dataDir }: Cluster,
  { url, dir, standby }: { url: string; dir: string; standby: boolean },
): Promise<void> {
  await mkdir(dir, { recursive: true });
  if (runAs !== undefined) await chown(dir, runAs.uid, runAs.gid);
  await copyFile(join(dirname(dataDir), passwordsName), join(dir, passwordsName));
  const args = ['-D', join(dir, 'data'), '-d', url, '--checkpoint=fast', ...(standby ? ['-R'] : [])];
  await runTool(join(binaries, 'pg_basebackup'), args, { runAs });
}

/** Substitutes variables as psql does. */
async function rolesWith(passwords: Passwords): Promise<string> {
  const text = await readFile(rolesFile, 'utf8');
  return text.replaceAll(
    /:'(owner|runtime|account)_password'/g,
    (_, name: keyof Passwords) => `'${passwords[name]}'`,
  );
}

/**
 * After a crash PostgreSQL replaces its pid file, unless the pid now belongs to another process of its user. The file
 * of a running server must stay: it protects the cluster from a second server.
 */
async function clearStalePidFile(dataDir: string): Promise<void> {
  const pidFile = join(dataDir, 'postmaster.pid');
  const text = await readFile(pidFile, 'utf8').catch(() => '');
  const pid = Number.parseInt(text, 10);
  if (Number.isNaN(pid)) return;
  if (await isRunning(pid, dataDir)) {
    throw new Error(`PostgreSQL already runs on ${dataDir} as process ${pid}: stop it first`);
  }
  if (await isRunning(pid, '')) await rm(pidFile);
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
