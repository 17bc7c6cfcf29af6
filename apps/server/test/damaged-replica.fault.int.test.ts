import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually, type NatsNode, startTestNats, type Template, testNightly } from '@earshot/testkit';
import { JetStreamApiError } from '@nats-io/jetstream';
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

/** Full files of the log: the server still writes to the last one. */
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

/** Makes the node lead the log and its consumer, so that events that it has lost reach no worker. */
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

/** How many messages are missing in the leader's own copy. */
async function missingFromLeader({ manager }: Nats): Promise<number> {
  const stateOf = async (seq: number): Promise<'there' | 'missing'> => {
    try {
      return (await manager.streams.getMessage(eventsStream, { seq })) === null ? 'missing' : 'there';
    } catch (error) {
      if (error instanceof JetStreamApiError) return 'missing';
      throw error;
    }
  };
  const { state } = await eventually(() => manager.streams.info(eventsStream), { timeoutMs: 60_000 });
  const states = await Promise.all(
    Array.from({ length: state.last_seq }, (_, index) =>
      eventually(() => stateOf(index + 1), { timeoutMs: 60_000 }),
    ),
  );
  return states.filter((one) => one === 'missing').length;
}

/** A node that starts sometimes repairs its copy from the others: then the test damages it again. */
const damagesMax = 10;

async function withDamage(
  damage: (file: string) => Promise<void>,
  run: (world: LogWorld) => Promise<void>,
): Promise<void> {
  // With production's permissions. Only this test moves the leadership of the log, which needs another one.
  await using servers = await startTestNats({ nodes: 3, password: 'test' });
  await using clone = await template.clone();
  await using database = openTestDatabase(clone.url);
  await using world = await openLogWorld({ servers, database, bytesMax });
  await world.check();
  await world.append(0, events, text);
  await caughtUp(world.nats);
  const leader = (await world.nats.manager.streams.info(eventsStream)).cluster?.leader;
  const node = servers.nodes.find(({ name }) => name !== leader);
  if (!node) throw new Error('there is no follower');
  for (let damages = 1; ; damages++) {
    await node.kill('SIGKILL');
    const blocks = await closedBlocks(node);
    expect(blocks.length).toBeGreaterThanOrEqual(1);
    for (const block of blocks) await damage(block);
    await node.restart();
    await caughtUp(world.nats);
    await makeLeader(world.nats, node);
    const missing = await missingFromLeader(world.nats);
    console.info(`${missing} messages are missing from the copy after damage ${damages}`);
    if (missing > 0) break;
    expect(damages, 'every damage was healed').toBeLessThan(damagesMax);
  }
  await run(world);
}

describe.each([
  ['damage by flipped bits', flipBits],
  ['damage by a cut', truncate],
])('%s in one copy of the log, on the node that delivers', (_, damage) => {
  /** The check runs every second. */
  test('is found by the second check after the delivery, and every event is stored', async () => {
    await withDamage(damage, async (world) => {
      await using _workers = world.startWorkers();
      await world.idle();
      for (const _look of [1, 2]) await world.check();
      const found = await world.holes('found');
      expect(found).toBeGreaterThan(0);
      const allStored = async () => {
        await world.check();
        return (await world.stored()).length === events;
      };
      await eventually(allStored, { timeoutMs: 60_000, intervalMs: 500 });
      expect(await world.holes('recovered')).toBe(await world.holes('found'));
      expect(await world.holes('lost')).toBe(0);
      expect(new Set(await world.stored()).size).toBe(events);
    });
  });

  testNightly(
    'control: without the check events are missing, and the log reports no pending ones',
    {},
    async () => {
      await withDamage(damage, async (world) => {
        await using _workers = world.startWorkers();
        await world.idle();
        expect((await world.stored()).length).toBeLessThan(events);
      });
    },
  );
});
