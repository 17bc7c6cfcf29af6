import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, chown, mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPostgresBinaries } from './postgres-binaries.ts';
import type { RunAs } from './process.ts';
import { isRunning } from './process.ts';
import { canEnter, unprivilegedUser } from './unprivileged-user.ts';

export type Cluster = Awaited<ReturnType<typeof openCluster>>;

/** Prepares the cluster in the folder for a start; creates it with initdb if there is none. */
export async function openCluster(dir: string, log: (progress: string) => void) {
  const [binaries, runAs] = await Promise.all([findPostgresBinaries(), unprivilegedUser()]);
  const home = await reachableHome(dir, runAs);
  if (home !== dir) log(`PostgreSQL runs as another user, who cannot enter ${dir}: its data is in ${home}`);
  const cluster = { binaries, runAs, dataDir: join(home, 'data') };
  if (!(await exists(cluster.dataDir))) {
    log('Creating a PostgreSQL cluster');
    await initialise(cluster);
  }
  await clearStalePidFile(cluster.dataDir);
  return cluster;
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
async function initialise({ binaries, dataDir, runAs }: Cluster): Promise<void> {
  const draft = `${dataDir}.new`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { mode: 0o700 });
  if (runAs !== undefined) await chown(draft, runAs.uid, runAs.gid);
  await runTool(
    join(binaries, 'initdb'),
    [
      ['-D', draft, '--username=earshot', '--auth=trust', '--data-checksums'],
      ['--encoding=UTF8', '--locale=C.UTF-8'],
    ].flat(),
    { runAs },
  );
  // Single-user mode needs neither a client nor a second start.
  await runTool(join(binaries, 'postgres'), ['--single', '-D', draft, 'postgres'], {
    runAs,
    input: 'CREATE DATABASE earshot\n',
  });
  await rename(draft, dataDir);
}

async function runTool(
  command: string,
  args: string[],
  { runAs, input = '' }: { runAs: RunAs | undefined; input?: string },
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const child = execFile(command, args, { cwd: '/', ...runAs }, (error, stdout, stderr) => {
      if (error === null) resolve();
      else reject(new Error(`${command} failed:\n${stdout}${stderr}`.trimEnd(), { cause: error }));
    });
    child.stdin?.end(input);
  });
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
