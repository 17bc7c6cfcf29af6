import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { jsonLine } from './output/printable.ts';

/** Time for a command to end before it gets SIGTERM, and again before SIGKILL. */
export const graceMs = 5_000;

/**
 * Runs a command line with a value on its standard input, as one line of JSON that a terminal can print. Returns its exit code, or the
 * name of the signal that ended it.
 *
 * The command has its own process group, so that Ctrl+C does not interrupt it, and so that its children end with it. It does not get the
 * API key: it works on untrusted content, which may make an agent print its environment.
 */
export async function runCommand(
  commandLine: string,
  {
    input,
    env,
    signal,
  }: { readonly input: object; readonly env: NodeJS.ProcessEnv; readonly signal: AbortSignal },
): Promise<number | string> {
  const { EARSHOT_API_KEY: _, ...withoutKey } = env;
  const child = spawn('sh', ['-c', commandLine], {
    stdio: ['pipe', 'inherit', 'inherit'],
    detached: true,
    env: withoutKey,
  });
  const ended = once(child, 'close');
  // A command may close its input without reading it.
  child.stdin.on('error', () => undefined).end(`${jsonLine(input)}\n`);
  const over = new AbortController();
  const stop = async () => {
    for (const name of ['SIGTERM', 'SIGKILL'] as const) {
      await sleep(graceMs, undefined, { signal: over.signal });
      killGroup(child.pid, name);
    }
  };
  const onAbort = () => void stop().catch(() => undefined);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  try {
    const [code, endedBy] = await ended;
    return code ?? endedBy;
  } finally {
    signal.removeEventListener('abort', onAbort);
    over.abort();
  }
}

function killGroup(pid: number | undefined, name: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, name);
  } catch {
    // It has already ended.
  }
}
