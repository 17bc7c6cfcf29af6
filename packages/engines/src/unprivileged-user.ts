import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { outputOf, type RunAs } from './process.ts';

const run = promisify(execFile);

/** PostgreSQL refuses to run as root. Undefined when we are not root. */
export async function unprivilegedUser(): Promise<RunAs | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = await Promise.all(['-u', '-g'].map((flag) => outputOf('id', [flag, name])));
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error(
    'PostgreSQL refuses to run as root, and this machine has no user "postgres" or "nobody" to run it as. ' +
      'Start as another user, or create one: useradd --system postgres',
  );
}

/** Whether the user can enter the folder: no folder above it may be private (a home of mode 700, for example). */
export async function canEnter(dir: string, user: RunAs): Promise<boolean> {
  try {
    await run('/bin/sh', ['-c', 'cd -- "$1"', 'sh', dir], { cwd: '/', ...user });
    return true;
  } catch (error) {
    // A signal to the process group ends the shell too, and says nothing about the folder.
    if (error instanceof Error && 'signal' in error && error.signal !== null) throw error;
    return false;
  }
}
