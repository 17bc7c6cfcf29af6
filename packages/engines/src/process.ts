import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

/** `parent`: ends when the process that started it ends, even by SIGKILL. `detached`: stays until it is stopped. */
export type Lifetime = 'parent' | 'detached';

/** The user and group that a server runs as; our own by default. */
export interface RunAs {
  uid: number;
  gid: number;
}

export type ServerProcess = Awaited<ReturnType<typeof spawnServer>>;

interface SpawnOptions {
  command: string;
  args: readonly string[];
  logFile: string;
  lifetime: Lifetime;
  runAs?: RunAs | undefined;
  /** Default: our own environment. */
  env?: NodeJS.ProcessEnv | undefined;
}

const pollMs = 25;
const stopTimeoutMs = 30_000;

export async function spawnServer(options: SpawnOptions) {
  const log = await open(options.logFile, 'a');
  try {
    // Its own process group: Ctrl+C in a terminal reaches only the parent, which stops its servers in order.
    const child = spawn(options.command, options.args, {
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
      cwd: '/',
      env: options.env,
      ...options.runAs,
    });
    await once(child, 'spawn');
    const pid = child.pid;
    if (pid === undefined) throw new Error(`${options.command} has no pid`);
    let isOver = false;
    const exited = new Promise<void>((resolve) => {
      child.once('exit', () => {
        isOver = true;
        resolve();
      });
    });
    if (options.lifetime === 'parent') watchParent(pid, exited);
    else child.unref();
    return {
      pid,
      exited,
      hasExited: () => isOver,
      /** Sends the signal and waits for the exit; SIGKILL follows when that takes too long. */
      async stop(signal: NodeJS.Signals): Promise<void> {
        if (isOver) return;
        child.kill(signal);
        // A stopped process handles no other signal.
        child.kill('SIGCONT');
        const lastResort = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
        await exited;
        clearTimeout(lastResort);
      },
    };
  } finally {
    await log.close();
  }
}

/**
 * Starts a shell that holds the read end of a pipe of ours. The kernel closes the pipe when this process ends, however
 * it ends; then the shell stops the server. SIGINT is PostgreSQL's fast shutdown, and nats-server accepts it as well.
 */
function watchParent(pid: number, exited: Promise<void>): void {
  const watchdog = spawn('/bin/sh', ['-c', `read -r _; kill -INT ${pid}; kill -CONT ${pid}`], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
  });
  watchdog.once('error', () => {});
  watchdog.unref();
  // The server has exited and its pid may be reused: stop the shell before it sees the pipe close.
  void exited.then(() => watchdog.kill('SIGKILL'));
}

interface ReadyOptions {
  server: ServerProcess;
  /** Name of the awaited state, for messages. */
  name: string;
  logFile: string;
  timeoutMs: number;
  isReady(): Promise<boolean>;
}

/** Throws with the end of the log when the server exits first or the timeout passes. */
export async function waitUntilReady(options: ReadyOptions): Promise<void> {
  const deadline = performance.now() + options.timeoutMs;
  while (!(await options.isReady())) {
    const reason = options.server.hasExited()
      ? 'exited before it was ready'
      : performance.now() > deadline && `was not ready after ${options.timeoutMs / 1000} s`;
    if (reason !== false) {
      throw new Error(`${options.name} ${reason}. Its log ends with:\n${await lastLines(options.logFile)}`);
    }
    await sleep(pollMs);
  }
}

async function lastLines(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '(no log)');
  return text.trimEnd().split('\n').slice(-12).join('\n');
}

/** Whether the process runs and has this text in its command line: the pid alone may have been reused. */
export async function isRunning(pid: number, inCommandLine: string): Promise<boolean> {
  const commandLine = await readCommandLine(pid);
  return commandLine?.includes(inCommandLine) ?? false;
}

async function readCommandLine(pid: number): Promise<string | undefined> {
  // No /proc (macOS) or no such process; ps fails in the second case.
  return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() =>
    outputOf('ps', ['-ww', '-o', 'args=', '-p', String(pid)]),
  );
}

/** The output of a command; undefined if it does not exist or fails. */
export async function outputOf(command: string, args: string[]): Promise<string | undefined> {
  return promisify(execFile)(command, args).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
}

/** Waits for the end of a command. If it fails, the error has its output. */
export async function runTool(
  command: string,
  args: string[],
  { runAs, input = '' }: { runAs?: RunAs | undefined; input?: string },
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const child = execFile(command, args, { cwd: '/', ...runAs }, (error, stdout, stderr) => {
      if (error === null) resolve();
      else reject(new Error(`${command} failed:\n${stdout}${stderr}`.trimEnd(), { cause: error }));
    });
    // The tool was ended before it read its input; `exec` above reports how it ended.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}

/** Stops a server that an earlier process of ours started. Does nothing when the pid is no longer that server. */
export async function stopPid(pid: number, inCommandLine: string): Promise<void> {
  if (!(await isRunning(pid, inCommandLine))) return;
  process.kill(pid, 'SIGINT');
  const deadline = performance.now() + stopTimeoutMs;
  while (await isRunning(pid, inCommandLine)) {
    if (performance.now() > deadline) process.kill(pid, 'SIGKILL');
    await sleep(pollMs);
  }
}
