import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/** After the signal a command has this long to end by itself, and as long again once it was asked to. */
export const graceMs = 5_000;

/**
 * Runs a command line with a text on its standard input, until it ends. Returns its exit code, or the name of the signal that ended it.
 *
 * It is a process group of its own, so that Ctrl+C does not end it in the middle of its work, and so that its children end
 * with it.
 */
export async function runCommand(
  commandLine: string,
  { input, signal }: { readonly input: string; readonly signal: AbortSignal },
): Promise<number | string> {
  const child = spawn('sh', ['-c', commandLine], { stdio: ['pipe', 'inherit', 'inherit'], detached: true });
  const ended = once(child, 'close');
  // A command that does not read its input closes it.
  child.stdin.on('error', () => undefined).end(input);
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
    // It has ended meanwhile.
  }
}
