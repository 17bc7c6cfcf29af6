import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { compileCache } from '@earshot/engines';
import { repository } from './demo-process.ts';

/** The command line as built, and a copy of it outside of the repository. */
export interface BuiltCli extends AsyncDisposable {
  /** A separate folder: home, configuration, and the copy. */
  readonly dir: string;
  /** The path of the copy. */
  readonly file: string;
  /** The path of the build, beside the sources that start servers. */
  readonly inRepository: string;
  /** Runs the copy to its end. */
  run(words: readonly string[], options?: RunOptions): Promise<Outcome>;
  /** Runs it on a terminal, and types each answer when its prompt appears. */
  onTerminal(
    words: readonly string[],
    answers: readonly (readonly [string, string])[],
    env?: Environment,
  ): Promise<Outcome>;
  /** Starts it without waiting for its end. */
  start(words: readonly string[], options?: RunOptions): Started;
  /** Ends all runs that still run, for the next test. */
  killStarted(): Promise<void>;
}

export interface RunOptions {
  readonly env?: Environment;
  readonly input?: string;
  readonly file?: string;
}

type Environment = Readonly<Record<string, string>>;

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Started {
  readonly process: ChildProcess;
  readonly output: { stdout: string; stderr: string };
  readonly exited: Promise<number>;
}

export async function buildCliOnce(defaults: () => Environment): Promise<BuiltCli> {
  const inRepository = join(repository, 'dist/earshot.mjs');
  await promisify(execFile)(process.execPath, [join(repository, 'apps/cli/build/main.ts')]);
  const dir = await mkdtemp(join(tmpdir(), 'earshot-cli-'));
  const copy = join(dir, 'earshot.mjs');
  await copyFile(inRepository, copy);

  const environment = (env: Environment = {}) => ({
    PATH: process.env['PATH'] ?? '',
    HOME: dir,
    TZ: 'UTC',
    ...compileCache(),
    ...defaults(),
    ...env,
  });
  const started: Started[] = [];
  const spawnCopy = (words: readonly string[], { env, input = '', file = copy }: RunOptions = {}) => {
    // By its first line, as a program: not as an argument of node.
    const child = spawn(file, words, { cwd: dir, env: environment(env), stdio: 'pipe' });
    child.stdin.on('error', () => undefined).end(input);
    return collect(child);
  };
  return {
    dir,
    file: copy,
    inRepository,
    start(words, options) {
      const running = spawnCopy(words, options);
      started.push(running);
      return running;
    },
    async killStarted() {
      for (const { process: child, exited } of started.splice(0)) {
        child.kill('SIGKILL');
        await exited;
      }
    },
    async run(words, options) {
      const { output, exited } = spawnCopy(words, options);
      return { code: await exited, ...output };
    },
    async onTerminal(words, answers, env) {
      const line = [copy, ...words].map((word) => `'${word}'`).join(' ');
      const child = spawn('script', ['-qec', line, '/dev/null'], {
        env: { TERM: 'xterm-256color', ...environment(env) },
        stdio: 'pipe',
      });
      const { output, exited } = collect(child);
      const waiting = [...answers];
      child.stdout.on('data', () => {
        const [next] = waiting;
        if (!next || !output.stdout.includes(next[0])) return;
        waiting.shift();
        child.stdin.write(next[1]);
      });
      return { code: await exited, ...output };
    },
    async [Symbol.asyncDispose]() {
      await rm(dir, { recursive: true, force: true });
    },
  };
}

function collect(child: ChildProcess): Started {
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => (output[name] += text));
  }
  const exited = once(child, 'close').then(([code, signal]) => (code === null ? `${signal}` : code));
  return { process: child, output, exited };
}
