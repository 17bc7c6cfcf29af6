import { eventually, startTcpProxy, startTestNats, type Template } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Database } from '../src/engines/database.ts';
import { readInstallation } from '../src/engines/installation.ts';
import { connectNats, type Nats } from '../src/engines/nats.ts';
import { readMessage } from '../src/event-log/event-consumer.ts';
import { createEventLog } from '../src/event-log/event-log.ts';
import { packBodies, unpackBodies } from '../src/event-log/event-message.ts';
import { eventsStream, matchConsumer } from '../src/event-log/events-stream.ts';
import { readLastEvent } from '../src/event-log/log-progress.ts';
import { createDeadLetters } from '../src/matching/dead-letters.ts';
import type { MatchStore } from '../src/matching/match-store.sql.ts';
import { storeBatch } from '../src/matching/match-worker.ts';
import { Failure } from '../src/runtime/failure.ts';
import { createLocalBells } from './local-bells.ts';
import { readLog } from './log-chaos.ts';
import { type LogWorld, openOwnLogWorld } from './log-world.ts';
import { xEvent } from './stream-events.ts';
import { createMigratedTemplate, makeEventsStream, silentTelemetry } from './support.ts';

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

const soon = { timeoutMs: 60_000, intervalMs: 50 };
const keysOf = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => xEvent(from + index).key);
const bodiesOf = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => JSON.stringify(xEvent(from + index)));

/** How many events each message of the log has. */
async function sizes({ manager }: Nats): Promise<number[]> {
  const { state } = await manager.streams.info(eventsStream);
  const messages = Array.from({ length: state.last_seq }, (_, index) =>
    manager.streams.getMessage(eventsStream, { seq: index + 1 }),
  );
  return (await Promise.all(messages)).map((message) => unpackBodies(message?.string() ?? '').length);
}

describe('the event log', () => {
  async function openLog() {
    await using stack = new AsyncDisposableStack();
    const server = stack.use(await startTestNats());
    const proxy = stack.use(await startTcpProxy({ target: { port: Number(new URL(server.url).port) } }));
    const nats = stack.use(await connectNats(`nats://${proxy.address}`, 'test'));
    await makeEventsStream(nats, { replicas: 1, bytesMax: 64 * 1024 ** 2 });
    const all = stack.move();
    return { nats, proxy, log: createEventLog(nats), [Symbol.asyncDispose]: () => all.disposeAsync() };
  }

  test('has the events of one turn and source in one message with the last position, and returns the last event', async () => {
    await using opened = await openLog();
    const { nats, log } = opened;
    const other = (number: number) => xEvent(number, { sourceId: 'firehose:main' });
    const ofBoth = (n: number) => [
      log.append(xEvent(n), n < 50 ? null : `${n - 50}`),
      log.append(other(n), '7'),
    ];
    await Promise.all(Array.from({ length: 100 }, (_, n) => ofBoth(n)).flat());
    await log.append(xEvent(100), '50');
    expect(await sizes(nats)).toEqual([64, 36, 64, 36, 1]);
    expect(await log.consumedBy('firehose:main')).toMatchObject({ position: '7' });
    expect(await log.consumedBy('x:main')).toMatchObject({ position: '50' });
    expect(await readLastEvent(nats, 'firehose:main')).toMatchObject({ event: other(99) });
    const second = await nats.manager.streams.getMessage(eventsStream, { seq: 2 });
    expect(second?.header.get('Earshot-Consumed')).toBe('49');
  });

  test('gets single events and full messages at once, and collects further events while a message is being appended', async () => {
    await using opened = await openLog();
    const { nats, proxy, log } = opened;
    const attempts = vi.spyOn(nats.jetstream, 'publish');
    const inTurns = async (from: number, count: number) => {
      for (let n = from; n < from + count; n++) {
        appending.push(log.append(xEvent(n), null));
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    const appending: Promise<void>[] = [];
    proxy.pause();
    await inTurns(0, 11);
    await new Promise((resolve) => setImmediate(resolve));
    expect(attempts).toHaveBeenCalledTimes(1);
    await inTurns(11, 60);
    await new Promise((resolve) => setImmediate(resolve));
    expect(attempts).toHaveBeenCalledTimes(2);
    proxy.resume();
    await Promise.all(appending);
    expect(await sizes(nats)).toEqual([1, 64, 6]);
    expect([...(await readLog(nats)).keys()]).toEqual(keysOf(0, 71));
  });

  test('has one event per message if a budget caps the source', async () => {
    await using opened = await openLog();
    const log = createEventLog(opened.nats, { packs: false });
    await Promise.all([1, 2, 3].map((number) => log.append(xEvent(number), null)));
    expect(await sizes(opened.nats)).toEqual([1, 1, 1]);
    const message = await opened.nats.manager.streams.getMessage(eventsStream, { seq: 3 });
    expect(message?.json()).toEqual(xEvent(3));
  });

  test('gets a message again unchanged if the connection was cut before its answer, and stores it once', async () => {
    await using opened = await openLog();
    const { nats, proxy, log } = opened;
    const attempts = vi.spyOn(nats.jetstream, 'publish');
    proxy.cutAfter((sent) => sent.includes('events.x.main') && proxy.fired.cut === 0);
    const appending = Array.from({ length: 40 }, (_, n) => log.append(xEvent(n), null));
    await eventually(() => expect(proxy.fired.cut).toBe(1), soon);
    // These arrive while the first message is retried.
    appending.push(...Array.from({ length: 40 }, (_, n) => log.append(xEvent(40 + n), null)));
    await Promise.all(appending);
    expect(attempts.mock.calls.length).toBeGreaterThan(2);
    expect(new Set(attempts.mock.calls.map(([, payload]) => payload)).size).toBe(2);
    expect(await sizes(nats)).toEqual([40, 40]);
    expect(await readLog(nats)).toEqual(new Map(keysOf(0, 80).map((key) => [key, 1])));
  });
});

interface Matching extends AsyncDisposable {
  readonly world: LogWorld;
  readonly database: Database;
  /** Puts the events into one message, as another process would. */
  readonly publish: (bodies: readonly string[]) => Promise<unknown>;
}

async function openMatching(): Promise<Matching> {
  await using stack = new AsyncDisposableStack();
  const { world, database } = stack.use(await openOwnLogWorld(template));
  await world.check();
  const all = stack.move();
  return {
    world,
    database,
    publish: (bodies) => world.nats.jetstream.publish('events.x.main', packBodies(bodies)),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

const settledIn = async (database: Database) => {
  const rows = await database.many<{ s: number }>('select unnest(sequences) as s from settled_batches');
  return rows.map(({ s }) => s);
};

/** The upstream's bill: each post once. */
const billedIn = async (database: Database) =>
  (
    await database.one<{ posts: number }>(
      `select coalesce(sum(at_most), 0)::integer as posts from source_usage where kind = 'post'`,
    )
  )?.posts;

/** Refuses these, and counts how often each event is written. */
function refusing(store: MatchStore, refused: ReadonlySet<string>, written: Map<string, number>): MatchStore {
  return {
    ...store,
    async write(posts, ...rest) {
      if (posts.some(({ key }) => refused.has(key)))
        throw Object.assign(new Error('invalid byte sequence'), { code: '22021' });
      const stored = await store.write(posts, ...rest);
      for (const { key } of posts) written.set(key, (written.get(key) ?? 0) + 1);
      return stored;
    },
  };
}

describe('an event that cannot be stored', () => {
  test('is retried and becomes a dead letter alone: the others of its message are stored once, and settled with it', async () => {
    await using matching = await openMatching();
    const { world, database, publish } = matching;
    const poison = new Set([xEvent(5).key, xEvent(40).key]);
    const written = new Map<string, number>();
    await publish(bodiesOf(0, 64));
    await publish(bodiesOf(64, 10));
    const letters = createDeadLetters(database);
    {
      await using _workers = world.startWorkers({ store: refusing(world.store, poison, written) });
      await world.storedAll(72, 60_000);
      expect(await settledIn(database)).not.toContain(1);
      const { num_ack_pending } = await world.nats.manager.consumers.info(eventsStream, matchConsumer);
      expect(num_ack_pending).toBeGreaterThan(0);
      await eventually(async () => expect(await letters.list()).toHaveLength(2), soon);
      await world.idle();
    }
    const buried = await letters.list();
    expect(new Set(buried.map(({ body }) => JSON.parse(body).key))).toEqual(poison);
    expect(buried).toMatchObject([
      { sequence: 1, deliveries: 5 },
      { sequence: 1, deliveries: 5 },
    ]);
    const neighbours = keysOf(0, 74).filter((key) => !poison.has(key));
    expect([...written.keys()].toSorted()).toEqual(neighbours.toSorted());
    expect(new Set(written.values())).toEqual(new Set([1]));
    expect(new Set(await settledIn(database))).toEqual(new Set([1, 2]));
    for (const _look of [1, 2]) await world.check();
    expect(await world.holes('found')).toBe(0);
    // The bill has it although no rule got it.
    expect(await billedIn(database)).toBe(74);
  });

  test('and cannot be parsed becomes a dead letter alone and at once', async () => {
    await using matching = await openMatching();
    const { world, database, publish } = matching;
    await publish([...bodiesOf(0, 10), '{"platform":"x"', ...bodiesOf(10, 10)]);
    await using _workers = world.startWorkers();
    await world.storedAll(20, 60_000);
    await world.idle();
    const letters = await createDeadLetters(database).list();
    expect(letters).toMatchObject([{ sequence: 1, body: '{"platform":"x"', deliveries: 1 }]);
    expect(await settledIn(database)).toEqual([1]);
  });

  test('is redelivered by the log, with its message, if its worker is gone', async () => {
    await using matching = await openMatching();
    const { world, publish } = matching;
    const written = new Map<string, number>();
    await publish(bodiesOf(0, 20));
    {
      const store = refusing(world.store, new Set([xEvent(5).key]), written);
      await using _workers = world.startWorkers({ store });
      await world.storedAll(19, 60_000);
    }
    await using _workers = world.startWorkers();
    await world.storedAll(20, 60_000);
    await world.idle();
    expect(await world.stored()).toEqual(keysOf(0, 20).toSorted());
  });
});

test('events that are redelivered in other groups are stored once, and billed once', async () => {
  await using matching = await openMatching();
  const { world, database } = matching;
  await using _workers = world.startWorkers();
  const append = (log: LogWorld['log'], from: number, count: number) =>
    Promise.all(Array.from({ length: count }, (_, index) => log.append(xEvent(from + index), null)));
  await append(world.log, 0, 100);
  // The next connection begins at the last acknowledged event, and groups events differently.
  const afterReconnect = createEventLog(world.nats);
  await append(afterReconnect, 30, 20);
  await append(afterReconnect, 50, 70);
  await world.storedAll(120, 60_000);
  await world.idle();
  // The ids of the messages did not detect them.
  expect(Math.max(...(await readLog(world.nats)).values())).toBe(2);
  expect(await world.stored()).toEqual(keysOf(0, 120).toSorted());
  expect(await billedIn(database)).toBe(120);
  expect(await database.many('select sum(matches)::integer as matches from usage')).toEqual([
    { matches: 120 },
  ]);
});

test('a message is settled with the last of its events, not with the first transaction that stored some', async () => {
  await using matching = await openMatching();
  const { world, database } = matching;
  const options = {
    installation: (await readInstallation(database)).id,
    bells: createLocalBells(),
    telemetry: silentTelemetry(),
  };
  let acknowledged = 0;
  const deliver = (store: MatchStore) => {
    const message = { seq: 9, time: new Date(), string: () => packBodies(bodiesOf(0, 8)) };
    const onSettled = () => void acknowledged++;
    return storeBatch(
      { ...options, store },
      readMessage(message, { deliveries: 1, onSettled, redeliver: () => undefined }),
    );
  };
  let writes = 0;
  const dying: MatchStore = {
    ...world.store,
    async write(posts, ...rest) {
      if (posts.length > 2) throw Object.assign(new Error('too many'), { code: '54000' });
      if (writes++ === 2)
        throw new Failure('aborted', 'the process is gone', { details: { reason: 'conflict' } });
      return await world.store.write(posts, ...rest);
    },
  };
  await expect(deliver(dying)).rejects.toThrow('the process is gone');
  expect(await world.stored()).toHaveLength(4);
  expect(await settledIn(database)).toEqual([]);
  expect(acknowledged).toBe(0);
  await deliver(world.store);
  expect(await world.stored()).toEqual(keysOf(0, 8).toSorted());
  expect(await settledIn(database)).toEqual([9]);
  expect(acknowledged).toBe(1);
});
