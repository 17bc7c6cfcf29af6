import { readFile, stat } from 'node:fs/promises';
import { compileCache } from './compile-cache.ts';
import { spawnServer, waitUntilReady } from './process.ts';

/** The server or the sandbox in its own process. */
export interface Program<Ready> extends AsyncDisposable {
  readonly pid: number;
  /** The line with which the program reported that it was ready. */
  readonly ready: Ready;
  readonly exited: Promise<void>;
  /** Simulates a crash with SIGKILL. */
  kill(): Promise<void>;
  /** SIGTERM; waits for the exit. */
  stop(): Promise<void>;
}

interface ProgramOptions<Ready> {
  /** For messages. */
  name: string;
  script: string;
  args?: readonly string[];
  env: NodeJS.ProcessEnv;
  /** Its output is appended to this file. */
  logFile: string;
  /** Recognises the line with which the program reports that it is ready. */
  readReady(line: string): Ready | undefined;
  timeoutMs?: number;
}

export async function startProgram<Ready>(options: ProgramOptions<Ready>): Promise<Program<Ready>> {
  const { name, script, args = [], env, logFile, timeoutMs = 60_000 } = options;
  const logStart = await stat(logFile).then(
    ({ size }) => size,
    () => 0,
  );
  const server = await spawnServer({
    command: process.execPath,
    args: [script, ...args],
    env: { ...compileCache(), ...env },
    logFile,
    lifetime: 'parent',
  });
  let ready: Ready | undefined;
  const isReady = async () => {
    const lines = (await readFile(logFile)).subarray(logStart).toString().split('\n').slice(0, -1);
    for (const line of lines) ready ??= options.readReady(line);
    return ready !== undefined;
  };
  try {
    await waitUntilReady({ server, name, logFile, timeoutMs, isReady });
  } catch (error) {
    await server.stop('SIGKILL');
    throw error;
  }
  if (ready === undefined) throw new Error(`${name} is ready without having said so`);
  const stop = () => server.stop('SIGTERM');
  return {
    pid: server.pid,
    ready,
    exited: server.exited,
    kill: () => server.stop('SIGKILL'),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
