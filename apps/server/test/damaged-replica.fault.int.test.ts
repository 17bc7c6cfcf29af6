import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually, type NatsNode, startTestNats, type Template } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Nats } from '../src/engines/nats.ts';
import { eventsStream, matchConsumer } from '../src/event-log/events-stream.ts';
import { type LogWorld, openLogWorld } from './log-world.ts';
import { createMigratedTemplate, openTestDatabase } from './support.ts';

const events = 2_000;
/** Four blocks of the log for all events. */
const text = 'x'.repeat(4_000);
const bytesMax = 12 * 1024 ** 2;

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

/** Files of the log that are full: the last one is still written to. */
async function closedBlocks(node: NatsNode): Promise<string[]> {
  const dir = join(node.storeDir, 'jetstream/$G/streams', eventsStream, 'msgs');
  const blocks = (await readdir(dir)).filter((name) => name.endsWith('.blk'));
  return blocks
    .toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
    .slice(0, -1)
    .map((name) => join(dir, name));
}

async function flipBits(file: string): Promise<void> {
  const bytes = await readFile(file);
  for (let part = 1; part <= 5; part++) {
    const at = Math.floor((bytes.length * part) / 6);
    bytes[at] = (bytes[at] ?? 0) ^ 0x10;
  }
  await writeFile(file, bytes);
}

async function truncate(file: string): Promise<void> {
  const { size } = await stat(file);
  await writeFile(file, (await readFile(file)).subarray(0, Math.floor(size / 2)));
}

/** Makes the node lead the log and its consumer, so that whatever it misses is missed by everybody. */
async function makeLeader(nats: Nats, node: NatsNode): Promise<void> {
  const { streams, consumers } = nats.manager;
  const leads = async () => {
    const stream = (await streams.info(eventsStream)).cluster?.leader;
    const consumer = (await consumers.info(eventsStream, matchConsumer)).cluster?.leader;
    const payload = JSON.stringify({ placement: { preferred: node.name } });
    const down = (what: string) => nats.connection.request(`$JS.API.${what}`, payload, { timeout: 2_000 });
    if (stream !== node.name) await down(`STREAM.LEADER.STEPDOWN.${eventsStream}`);
    if (consumer !== node.name) await down(`CONSUMER.LEADER.STEPDOWN.${eventsStream}.${matchConsumer}`);
    return stream === node.name && consumer === node.name;
  };
  await eventually(leads, { timeoutMs: 60_000, intervalMs: 500 });
}

async function caughtUp(nats: Nats): Promise<void> {
  const { streams } = nats.manager;
  const current = async () => {
    const { cluster } = await streams.info(eventsStream);
    return cluster?.replicas?.length === 2 && cluster.replicas.every((one) => one.current && !one.offline);
  };
  await eventually(current, { timeoutMs: 60_000 });
}

async function withDamage(
  damage: (file: string) => Promise<void>,
  run: (world: LogWorld) => Promise<void>,
): Promise<void> {
  await using servers = await startTestNats({ nodes: 3 });
  await using clone = await template.clone();
  await using database = openTestDatabase(clone.url);
  await using world = await openLogWorld({ servers, database, bytesMax });
  await world.check();
  await world.append(0, events, text);
  await caughtUp(world.nats);
  const leader = (await world.nats.manager.streams.info(eventsStream)).cluster?.leader;
  const node = servers.nodes.find(({ name }) => name !== leader);
  if (!node) throw new Error('there is no follower');
  await node.kill('SIGKILL');
  const blocks = await closedBlocks(node);
  expect(blocks.length).toBeGreaterThanOrEqual(1);
  for (const block of blocks) await damage(block);
  await node.restart();
  await caughtUp(world.nats);
  await makeLeader(world.nats, node);
  await run(world);
}

/** Now and then a node heals its copy when it starts: then nothing is damaged, nothing can be found, and it begins anew. */
const untilDamaged = { retry: 5 };

describe.each([
  ['flipped bits', flipBits],
  ['a cut', truncate],
])('%s in one copy of the log, on the node that delivers', untilDamaged, (_, damage) => {
  test('are found within 5 s, and every event is stored all the same', async () => {
    await withDamage(damage, async (world) => {
      await using _workers = world.startWorkers();
      const startedAt = performance.now();
      const checking = eventually(
        async () => {
          await world.check();
          return (await world.stored()).length === events;
        },
        { timeoutMs: 40_000, intervalMs: 500 },
      );
      // Awaited below; when nothing is found before, it does not matter any more.
      checking.catch(() => undefined);
      await eventually(async () => (await world.holes('found')) > 0, { timeoutMs: 40_000 });
      const foundAfterMs = performance.now() - startedAt;
      await checking;
      const [found, recovered, lost] = await Promise.all([
        world.holes('found'),
        world.holes('recovered'),
        world.holes('lost'),
      ]);
      console.info(`${found} left out, found after ${Math.round(foundAfterMs)} ms, ${recovered} recovered`);
      expect(found).toBeGreaterThan(0);
      expect(recovered).toBe(found);
      expect(lost).toBe(0);
      expect(foundAfterMs).toBeLessThan(5_000);
      expect(new Set(await world.stored()).size).toBe(events);
    });
  });

  test('control: without the check they are missing, and the log says that nothing is pending', async () => {
    await withDamage(damage, async (world) => {
      await using _workers = world.startWorkers();
      await world.idle();
      expect((await world.stored()).length).toBeLessThan(events);
    });
  });
});
