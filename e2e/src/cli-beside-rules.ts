import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { compileCache } from '@earshot/engines';

const build = join(import.meta.dirname, '../../apps/cli/build/build-cli.ts');

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<{ code: number | null; stdout: string; stderr: string }>;
}

/** Where it asks and as whom; null: nobody told it. */
export type Asks = { readonly url: string; readonly key: string } | null;

/** The built command line in a folder of its own, in which rules files are written. */
export interface CliBesideRules extends AsyncDisposable {
  write(lines: readonly string[], name?: string): Promise<void>;
  start(args: readonly string[], asks: Asks): Running;
}

export async function buildCliBesideRules(): Promise<CliBesideRules> {
  const dir = await mkdtemp(join(tmpdir(), 'earshot-rules-'));
  const program = join(dir, 'earshot.mjs');
  const script = `await (await import(${JSON.stringify(build)})).buildCli(${JSON.stringify(program)})`;
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  const environment = (asks: Asks) => ({
    PATH: process.env['PATH'],
    HOME: dir,
    ...compileCache(),
    ...(asks && { EARSHOT_URL: asks.url, EARSHOT_API_KEY: asks.key }),
  });
  return {
    write: (lines, name = 'rules.yaml') => writeFile(join(dir, name), `${lines.join('\n')}\n`),
    start(args, asks) {
      const child = spawn(process.execPath, [program, ...args], {
        cwd: dir,
        env: environment(asks),
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const exited = new Promise<number | null>((resolve, reject) => {
        child.once('error', reject).once('close', resolve);
      });
      const ended = Promise.all([exited, text(child.stdout), text(child.stderr)]).then(
        ([code, stdout, stderr]) => ({ code, stdout, stderr }),
      );
      return { child, ended };
    },
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }),
  };
}
