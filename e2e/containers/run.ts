import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const exec = promisify(execFile);

interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Returns the command's stdout; fails with its stderr. */
export async function run(
  command: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<string> {
  const env = { ...process.env, ...options.env };
  const { stdout } = await exec(command, [...args], { ...options, env, maxBuffer: 64 * 1024 ** 2 });
  return stdout;
}

const startedAt = performance.now();

/** Prints one line per step, with its duration in seconds. */
export async function step<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  const from = performance.now();
  const seconds = (since: number) => ((performance.now() - since) / 1000).toFixed(1);
  try {
    return await work();
  } finally {
    console.log(`${seconds(startedAt).padStart(6)} s  ${name} (${seconds(from)} s)`);
  }
}
