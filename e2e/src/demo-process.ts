import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { storesDir } from '@earshot/testkit';
import { inject } from 'vitest';

export const repository = join(import.meta.dirname, '../..');

/** A command that runs until a signal ends it, in a separate process group and temp folder. */
export interface RunningCommand {
  readonly process: ChildProcess;
  readonly exited: Promise<number | null>;
  /** Its output so far. */
  stdout(): string;
  stderr(): string;
  /** Waits for a line of its stdout. */
  line(pattern: RegExp): Promise<RegExpExecArray>;
}

export function startDemo(
  args: readonly string[],
  tempDir: string,
  env: Readonly<Record<string, string>> = {},
): RunningCommand {
  const [command, ...first] = hasPnpm()
    ? ['pnpm', 'demo']
    : [process.execPath, 'apps/cli/src/main.ts', 'demo'];
  return startCommand(command ?? '', [...first, ...args], tempDir, env);
}

function hasPnpm(): boolean {
  try {
    execFileSync('pnpm', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export function startCommand(
  command: string,
  args: readonly string[],
  tempDir: string,
  env: Readonly<Record<string, string>> = {},
): RunningCommand {
  const child = spawn(command, args, {
    cwd: repository,
    env: { ...process.env, TMPDIR: tempDir, EARSHOT_NATS_SERVER: inject('natsServer'), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => (output[name] += text));
  }
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  const exited = once(child, 'close').then(([code]) => code as number | null);
  return {
    process: child,
    exited,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    async line(pattern) {
      for (;;) {
        for (const line of lines) {
          const found = pattern.exec(line);
          if (found) return found;
        }
        const ended = await Promise.race([once(reader, 'line').then(() => false), exited.then(() => true)]);
        if (ended) throw new Error(`ended without a line like ${pattern}:\n${output.stdout}${output.stderr}`);
      }
    },
  };
}

/** Processes with the folder in their command line, environment or output: all that a demo in it started. */
export async function processesOf(tempDir: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && name !== String(process.pid));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const read = (file: string) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
      const commandLine = await read('cmdline');
      const output = await readlink(`/proc/${pid}/fd/1`).catch(() => '');
      const traces = [commandLine, await read('environ'), output].join(' ');
      return traces.includes(tempDir) ? `${pid} ${commandLine.replaceAll('\0', ' ')}` : undefined;
    }),
  );
  return found.filter((line) => line !== undefined);
}

/** A folder for the temporary files of one command, so that a test can find what it leaves behind. */
export async function makeTempDir(): Promise<string> {
  const dir = await mkdtemp(join(storesDir(), 'earshot-e2e-'));
  // If root runs the tests, PostgreSQL runs as another user, who needs access to its data.
  await chmod(dir, 0o711);
  return dir;
}
