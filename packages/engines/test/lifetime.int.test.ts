import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { isRunning, stopPid } from '../src/process.ts';

/** Starts one nats-server in a separate process, kills that process with SIGKILL and returns the server's pid. */
async function startFromKilledProcess(dir: string, lifetime: 'parent' | 'detached'): Promise<number> {
  const parent = fork(join(import.meta.dirname, 'start-nats.ts'), [inject('natsServer'), dir, lifetime]);
  const [pid] = await once(parent, 'message');
  expect(await isRunning(Number(pid), dir)).toBe(true);
  parent.kill('SIGKILL');
  await once(parent, 'exit');
  return Number(pid);
}

test('a server ends with its parent, even when the parent gets SIGKILL', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'earshot-engines-'));
  const pid = await startFromKilledProcess(dir, 'parent');
  await expect.poll(() => isRunning(pid, dir), { timeout: 30_000 }).toBe(false);
  await rm(dir, { recursive: true, force: true });
});

test('a detached server outlives its parent until it is stopped by its pid', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'earshot-engines-'));
  const pid = await startFromKilledProcess(dir, 'detached');
  expect(await isRunning(pid, dir)).toBe(true);
  await stopPid(pid, 'the command line of some other program');
  expect(await isRunning(pid, dir)).toBe(true);
  await stopPid(pid, dir);
  expect(await isRunning(pid, dir)).toBe(false);
  await rm(dir, { recursive: true, force: true });
});
