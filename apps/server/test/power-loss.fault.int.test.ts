import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { skipUnless, startTestNats } from '@earshot/testkit';
import { describe, expect, test } from 'vitest';
import { connectNats } from '../src/engines/nats.ts';
import { createEventLog } from '../src/event-log/event-log.ts';
import { readLog } from './log-chaos.ts';
import { xEvent } from './stream-events.ts';
import { makeEventsStream } from './support.ts';

const run = promisify(execFile);
const events = 3_000;

/** A separate disk in a file: what the file holds at a moment is what a power failure leaves. */
async function openDisk() {
  const dir = await mkdtemp(join(tmpdir(), 'earshot-power-'));
  const [image, copy, mount] = ['image', 'copy', 'mount'].map((name) => join(dir, name));
  if (!image || !copy || !mount) throw new Error('no paths');
  const unmount = () => run('umount', [mount]);
  const mountFile = (file: string) => run('mount', ['-o', 'loop', file, mount]);
  await mkdir(mount);
  await run('truncate', ['-s', '512M', image]);
  await run('mkfs.ext4', ['-q', image]);
  await mountFile(image);
  await run('sync', ['-f', mount]);
  return {
    mount,
    /** All processes on the disk must be suspended; `kill` ends them before the disk is removed. */
    async losePower(kill: () => Promise<unknown>) {
      await run('cp', ['--sparse=always', image, copy]);
      await kill();
      await unmount();
      await mountFile(copy);
    },
    async [Symbol.asyncDispose]() {
      await unmount();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

const missing = await openDisk().then(
  async (disk) => {
    await disk[Symbol.asyncDispose]();
    return null;
  },
  (error: unknown) => String(error),
);

/** Appends to three nodes, cuts the power of all at once, starts them again; returns how many events are left. */
async function survivors(syncInterval: 'always' | '2m'): Promise<number> {
  await using disk = await openDisk();
  const dir = join(disk.mount, 'nats');
  const first = await startTestNats({ nodes: 3, dir, syncInterval });
  {
    await using nats = await connectNats(first.url, 'test');
    await makeEventsStream(nats, { replicas: 3, bytesMax: 64 * 1024 ** 2 });
    // The disk has the empty log; from here on only what the servers sync counts.
    await run('sync', ['-f', disk.mount]);
    const log = createEventLog(nats);
    for (let at = 0; at < events; at += 250) {
      await Promise.all(Array.from({ length: 250 }, (_, index) => log.append(xEvent(at + index), null)));
    }
    await Promise.all(first.nodes.map((node) => node.kill('SIGSTOP')));
    await disk.losePower(() => Promise.all(first.nodes.map((node) => node.kill('SIGKILL'))));
    await nats.connection.close();
  }
  await using second = await startTestNats({ nodes: 3, dir, ports: first.ports, syncInterval });
  await using nats = await connectNats(second.url, 'test');
  return (await readLog(nats)).size;
}

describe('power loss of all three nodes at once', skipUnless('mount', missing), () => {
  test('loses no acknowledged event', async () => {
    expect(await survivors('always')).toBe(events);
  });

  test("control: with the server's default, which syncs every two minutes, acknowledged events are lost", async () => {
    expect(await survivors('2m')).toBeLessThan(events);
  });
});
