import {
  eventually,
  startTcpProxy,
  startTestNats,
  startTestPostgres,
  type Template,
  testNightly,
} from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../src/engines/database.ts';
import { migrate } from '../src/engines/migrate.ts';
import type { EventConsumer } from '../src/event-log/event-consumer.ts';
import { createMatchStore, type MatchStore } from '../src/matching/match-store.sql.ts';
import { ensurePartitions } from '../src/matching/partitions.ts';
import { Failure } from '../src/runtime/failure.ts';
import { acknowledgeEarly, openLogWorld, watchFailures } from './log-world.ts';
import { xEvent } from './stream-events.ts';
import { createMigratedTemplate, openTestDatabase } from './support.ts';

const events = 1_500;
const ackWaitMs = 1_000;
const keys = Array.from({ length: events }, (_, number) => xEvent(number).key).toSorted();

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

/** For controls: drops the key that makes a second delivery harmless. */
async function forgetKeys(database: Database): Promise<void> {
  await database.run('alter table matches drop constraint matches_pkey');
}

describe('a worker that crashes between the commit and the acknowledgement', () => {
  const run = async (prepare: (database: Database) => Promise<void>) => {
    await using servers = await startTestNats();
    await using clone = await template.clone();
    await using database = openTestDatabase(clone.url);
    await using world = await openLogWorld({ servers, database, ackWaitMs });
    await prepare(database);
    const store = createMatchStore(database);
    let deaths = 0;
    const dying: MatchStore = {
      ...store,
      async write(posts, matches, ...rest) {
        const stored = await store.write(posts, matches, ...rest);
        if (deaths === 5) return stored;
        deaths++;
        throw new Failure('aborted', 'the process is gone', { details: { reason: 'conflict' } });
      },
    };
    await world.append(0, events);
    await using _workers = world.startWorkers({ store: dying });
    await world.storedAll(events, 60_000);
    await world.idle();
    return { deaths, stored: await world.stored() };
  };

  test('loses and duplicates no event', async () => {
    const { deaths, stored } = await run(async () => undefined);
    expect(deaths).toBe(5);
    expect(stored).toEqual(keys);
  });

  testNightly('control: without the key of a match events are duplicated', {}, async () => {
    const { stored } = await run(forgetKeys);
    expect(stored.length).toBeGreaterThan(events);
  });
});

describe('a connection that is cut when COMMIT was sent', () => {
  const run = async (prepare: (database: Database) => Promise<void>) => {
    await using servers = await startTestNats();
    await using clone = await template.clone();
    const target = new URL(clone.url);
    await using proxy = await startTcpProxy({ target: { port: Number(target.port) } });
    target.host = proxy.address;
    await using direct = openTestDatabase(clone.url);
    await using database = openTestDatabase(target.href);
    await using world = await openLogWorld({ servers, database: direct, ackWaitMs });
    await prepare(direct);
    await world.append(0, events);
    // The first commit, and some later ones while the same events are redelivered.
    let commits = 0;
    proxy.cutAfter((sent) => sent.includes('commit') && commits++ % 3 === 0 && proxy.fired.cut < 5);
    await using _workers = world.startWorkers({ store: createMatchStore(database) });
    await world.storedAll(events, 60_000);
    await world.idle();
    return { cut: proxy.fired.cut, stored: await world.stored() };
  };

  test('loses and duplicates no event', async () => {
    const { cut, stored } = await run(async () => undefined);
    expect(cut).toBeGreaterThanOrEqual(2);
    expect(stored).toEqual(keys);
  });

  testNightly('control: without the key of a match events are duplicated', {}, async () => {
    const { stored } = await run(forgetKeys);
    expect(stored.length).toBeGreaterThan(events);
  });
});

describe('a database that is killed and restarted', () => {
  /** With `givesUp`, as when it is down for longer than a worker keeps its batch. */
  const run = async (givesUp: boolean, wrapSource?: (source: EventConsumer) => EventConsumer) => {
    await using servers = await startTestNats();
    await using postgres = await startTestPostgres();
    await migrate(postgres.url);
    await using database = openTestDatabase(postgres.url);
    await ensurePartitions(database);
    await using world = await openLogWorld({ servers, database, ackWaitMs });
    const { store, failures } = watchFailures(world.store, { givesUp });
    await using _workers = world.startWorkers({ store, ...(wrapSource && { wrapSource }) });
    const appending = world.append(0, events);
    await eventually(async () => (await world.stored()).length > 100, { timeoutMs: 30_000 });
    // SIGQUIT: no checkpoint and no shutdown; it recovers from its log.
    process.kill(postgres.current().pid, 'SIGQUIT');
    await appending;
    await postgres.restart();
    await eventually(() => world.stored().then(() => true), { timeoutMs: 30_000 });
    await world.idle();
    const { values } = await world.metrics.workerFailures.get();
    return { failures: failures(), workerFailures: values[0]?.value ?? 0, stored: await world.stored() };
  };

  test('costs no event, and the workers keep their batches', async () => {
    const { failures, workerFailures, stored } = await run(false);
    expect(failures).toBeGreaterThan(0);
    expect(workerFailures).toBe(0);
    expect(stored).toEqual(keys);
  });

  test('costs no event if the workers give up their batches', async () => {
    const { workerFailures, stored } = await run(true);
    expect(workerFailures).toBeGreaterThan(0);
    expect(stored).toEqual(keys);
  });

  testNightly('control: if events are acknowledged before they are stored, some are lost', {}, async () => {
    const { stored } = await run(true, acknowledgeEarly);
    expect(stored.length).toBeLessThan(events);
  });
});

test('a worker that was paused for longer than the log waits, and continues, duplicates nothing', async () => {
  await using servers = await startTestNats();
  await using clone = await template.clone();
  await using database = openTestDatabase(clone.url);
  await using world = await openLogWorld({ servers, database, ackWaitMs });
  const stopped = Promise.withResolvers<void>();
  const continued = Promise.withResolvers<void>();
  const late = Promise.withResolvers<void>();
  const stoppable: MatchStore = {
    ...world.store,
    async write(...given) {
      stopped.resolve();
      await continued.promise;
      const stored = await world.store.write(...given);
      late.resolve();
      return stored;
    },
  };
  await world.append(0, events);
  // A paused process extends no deadline either.
  const source = { holdEveryMs: 3_600_000 };
  await using _stopped = world.startWorkers({ count: 1, store: stoppable, source });
  await stopped.promise;
  await using _others = world.startWorkers({ count: 1 });
  await world.storedAll(events, 60_000);
  continued.resolve();
  await late.promise;
  await world.idle();
  expect(await world.stored()).toEqual(keys);
});

test('a batch that takes longer than the log waits stays with its worker', async () => {
  await using servers = await startTestNats();
  await using clone = await template.clone();
  await using database = openTestDatabase(clone.url);
  await using world = await openLogWorld({ servers, database, ackWaitMs });
  const run = async (holdEveryMs: number, from: number) => {
    let delivered = 0;
    const slow: MatchStore = {
      ...world.store,
      async write(...given) {
        delivered += given[0].length;
        await new Promise((resolve) => setTimeout(resolve, 2.5 * ackWaitMs));
        return await world.store.write(...given);
      },
    };
    await world.append(from, 10);
    await using _workers = world.startWorkers({ store: slow, source: { holdEveryMs } });
    await eventually(() => delivered > 0, { timeoutMs: 60_000 });
    await world.idle();
    return delivered;
  };
  expect(await run(200, 0)).toBe(10);
  // Control: without an extension of the deadline, the log also delivers it to the other worker.
  expect(await run(3_600_000, 10)).toBeGreaterThan(10);
});
