import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually, skipUnless, startTestNats, startTestPostgres, testNightly } from '@earshot/testkit';
import { describe, expect, test } from 'vitest';
import { migrate } from '../src/engines/migrate.ts';
import { connectNats } from '../src/engines/nats.ts';
import { createAppendWatch } from '../src/event-log/append-watch.ts';
import type { EventConsumer } from '../src/event-log/event-consumer.ts';
import { createEventLog } from '../src/event-log/event-log.ts';
import { ensurePartitions } from '../src/matching/partitions.ts';
import { readLog } from './log-chaos.ts';
import { acknowledgeEarly, openLogWorld, watchFailures } from './log-world.ts';
import { xEvent } from './stream-events.ts';
import { makeEventsStream, openTestDatabase } from './support.ts';

const command = promisify(execFile);

/** A separate small disk. */
async function openSmallDisk(size: string) {
  const dir = await mkdtemp(join(tmpdir(), 'earshot-disk-'));
  try {
    await command('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=0755`, 'tmpfs', dir]);
  } catch (error) {
    await rm(dir, { recursive: true });
    throw error;
  }
  await chmod(dir, 0o755);
  const filler = join(dir, 'filler');
  return {
    dir,
    async fill() {
      const { bavail, bsize } = await statfs(dir);
      await writeFile(filler, Buffer.alloc(bavail * bsize)).catch(() => undefined);
      return (await statfs(dir)).bavail;
    },
    free: () => rm(filler),
    async [Symbol.asyncDispose]() {
      await command('umount', ['-l', dir]);
      await rm(dir, { recursive: true, force: true });
    },
  };
}

const missing = await openSmallDisk('1m').then(
  async (disk) => {
    await disk[Symbol.asyncDispose]();
    return null;
  },
  (error: unknown) => String(error),
);

const events = 3_000;

describe('a full disk', skipUnless('mount', missing), () => {
  const run = async (givesUp: boolean, wrapSource?: (source: EventConsumer) => EventConsumer) => {
    await using disk = await openSmallDisk('300m');
    await using servers = await startTestNats();
    await using postgres = await startTestPostgres({ dir: disk.dir });
    await migrate(postgres.url);
    await using database = openTestDatabase(postgres.url);
    await ensurePartitions(database);
    await using world = await openLogWorld({ servers, database, ackWaitMs: 1_000 });
    const { store, failures } = watchFailures(world.store, { givesUp });
    await using _workers = world.startWorkers({ store, ...(wrapSource && { wrapSource }) });
    expect(await disk.fill()).toBeLessThan(8);
    await world.append(0, events, 'x'.repeat(4_000));
    await eventually(() => failures() > 0, { timeoutMs: 60_000 });
    await disk.free();
    // It exits when it cannot write its log; the operator's supervisor starts it again.
    await postgres.restart();
    await world.idle();
    return await world.stored();
  };

  test('of the database stops the matching, and costs nothing once there is space again', async () => {
    const keys = Array.from({ length: events }, (_, number) => xEvent(number).key).toSorted();
    expect(await run(false)).toEqual(keys);
  });

  test('of the database, control: if events are acknowledged before they are stored, some are lost', async () => {
    expect((await run(true, acknowledgeEarly)).length).toBeLessThan(events);
  });

  testNightly(
    'of NATS makes it refuse events until nats-server is restarted; then it accepts the waiting ones',
    {},
    async () => {
      await using disk = await openSmallDisk('64m');
      await using servers = await startTestNats({ dir: disk.dir });
      await using nats = await connectNats(servers.url, 'test');
      await makeEventsStream(nats, { replicas: 1, bytesMax: 1024 ** 3 });
      const watch = createAppendWatch({ server: () => nats.connection.getServer() });
      const log = createEventLog(nats, { watch });
      await log.append(xEvent(0), null);
      await disk.fill();
      // nats-server extends its files only now and then.
      const waiting = Array.from({ length: 200 }, (_, index) => {
        const event = xEvent(index + 1);
        return log.append({ ...event, payload: { ...event.payload, text: 'x'.repeat(20_000) } }, null);
      });
      const refusedAt = performance.now();
      await eventually(() => expect(watch.refusing()).toContain(nats.connection.getServer()), {
        timeoutMs: 30_000,
        intervalMs: 50,
      });
      expect(performance.now() - refusedAt).toBeLessThan(5_000);
      // The health checks of compose.yaml, now and before.
      const health = async (query: string) =>
        (await fetch(`${servers.nodes[0]?.monitorUrl}/healthz${query}`)).ok;
      expect(await health('')).toBe(false);
      expect(await health('?js-server-only=true')).toBe(true);
      await disk.free();
      // Control: space alone is not enough.
      await expect(log.probe('x', AbortSignal.timeout(7_000))).rejects.toThrow(
        /^timeout \(events\.probe at nats-server 127/,
      );
      expect(watch.refusing()).not.toBeNull();
      await servers.nodes[0]?.restart();
      await Promise.all(waiting);
      await log.probe('x', AbortSignal.timeout(10_000));
      expect(watch.refusing()).toBeNull();
      expect(await readLog(nats)).toHaveLength(202);
    },
  );
});
