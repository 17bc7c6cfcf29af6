import { startTestNats, type Template } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openAdmin } from '../src/admin.ts';
import { loseLog } from '../src/coverage/lost-log.ts';
import { createMatchedThrough, recordMatchedThrough } from '../src/coverage/progress.ts';
import type { Database } from '../src/engines/database.ts';
import { createLeaseStore } from '../src/engines/leases.ts';
import { connectNats, type Nats } from '../src/engines/nats.ts';
import { claimEventLog, readEventLog } from '../src/event-log/bound-log.ts';
import { createEventLog } from '../src/event-log/event-log.ts';
import { eventsStream } from '../src/event-log/events-stream.ts';
import { createMatchProgress } from '../src/event-log/log-progress.ts';
import { createCoverageIntervals } from '../src/ingest/coverage-intervals.sql.ts';
import { createSettledStore } from '../src/matching/check-log.ts';
import { xEvent } from './stream-events.ts';
import { createMigratedTemplate, openTestDatabase } from './support.ts';

const stream = { replicas: 1, bytesMax: 64 * 1024 ** 2 };

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template[Symbol.asyncDispose]());

interface World extends AsyncDisposable {
  readonly database: Database;
  readonly databaseUrl: string;
  readonly nats: Nats;
  readonly losses: string[];
  record(): Promise<void>;
  /** The intervals of X in order, in seconds before now. */
  ledger(): Promise<{ from: number; to: number; because: string | null }[]>;
}

const certainAfterMs = 300;

async function open(): Promise<World> {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startTestNats());
  const nats = stack.use(await connectNats(server.url, 'test'));
  const clone = stack.use(await template.clone());
  const database = stack.use(openTestDatabase(clone.url));
  await claimEventLog(database, nats, stream);
  const losses: string[] = [];
  const options = {
    store: createMatchedThrough(database, certainAfterMs),
    progress: createMatchProgress(nats),
    readLog: () => readEventLog(nats),
    makeLog: () => claimEventLog(database, nats, stream),
    telemetry: { eventLogLost: ({ fate }: { fate: string }) => void losses.push(fate) },
  };
  const running = stack.move();
  return {
    database,
    databaseUrl: clone.url,
    nats,
    losses,
    record: () => recordMatchedThrough(options, AbortSignal.timeout(20_000)),
    // In seconds before the call of `coverTenMinutes`, a time that the row of the idle source has.
    ledger: () =>
      database.many(
        `select round(extract(epoch from called_at - from_at))::int as from, ended_because as because,
           round(extract(epoch from called_at - proven_until))::int as to
         from coverage, (select coalesce(
           (select from_at + interval '900 seconds' from coverage where source_id = 'x:off'), now()) as called_at) as off
         where source_id = 'x:main' order by from_at`,
      ),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

const ago = (seconds: number) => `now() - interval '${seconds} seconds'`;

/** Covers 600 to 0 seconds ago with three connections; all events until 300 seconds ago are matched. */
async function coverTenMinutes({ database }: World): Promise<void> {
  await database.run(`insert into coverage (source_id, from_at, proven_until, received_until, ended_because) values
    ('x:main', ${ago(600)}, ${ago(200)}, ${ago(200)}, 'dropped'),
    ('x:main', ${ago(190)}, ${ago(100)}, ${ago(100)}, 'dropped'),
    ('x:main', ${ago(90)}, now(), now(), null),
    ('x:off', ${ago(900)}, ${ago(800)}, ${ago(800)}, 'stopped')`);
  await database.run(`update match_progress set matched_through = ${ago(300)}`);
}

/** The interval in which all events were matched until a time, and two intervals that are empty now. */
const cut = [600, 300, 300].map((from) => ({ from, to: 300, because: 'log_lost' }));

describe('an event log', () => {
  test('that is gone is recreated; received unmatched events are a gap, also over several connections', async () => {
    await using world = await open();
    const { database, nats, losses } = world;
    await coverTenMinutes(world);
    await nats.manager.streams.delete(eventsStream);
    await world.record();
    expect(losses).toEqual(['lost']);
    expect(await world.ledger()).toEqual(cut);
    // A source that was not connected lost nothing.
    const off = await database.one(`select ended_because from coverage where source_id = 'x:off'`);
    expect(off).toEqual({ ended_because: 'stopped' });
    expect(await readEventLog(nats)).toMatchObject({ lastSequence: 0 });
    await world.record();
    await world.record();
    expect(losses).toEqual(['lost']);
    const row = await database.one(`select matched_through > ${ago(60)} as recent from match_progress`);
    expect(row).toEqual({ recent: true });
  });

  test('that another program recreated counts as lost', async () => {
    await using world = await open();
    await coverTenMinutes(world);
    const { streams } = world.nats.manager;
    const { config } = await streams.info(eventsStream);
    await streams.delete(eventsStream);
    await streams.add(config);
    await world.record();
    expect(world.losses).toEqual(['replaced']);
    expect(await world.ledger()).toEqual(cut);
  });

  test('that grew between the checks of two nodes is the same log, whichever node writes first', async () => {
    await using world = await open();
    const { database, nats } = world;
    const log = createEventLog(nats);
    const store = createMatchedThrough(database, certainAfterMs);
    const { signal } = new AbortController();
    await log.append(xEvent(1), null);
    await coverTenMinutes(world);
    let checks = 0;
    // This node has checked, and the other one checks later and writes before it.
    const slow = await store.follow(async () => {
      const seen = await readEventLog(nats);
      if (checks++ === 0) {
        await log.append(xEvent(2), null);
        await store.follow(() => readEventLog(nats), signal);
      }
      return seen;
    }, signal);
    expect(slow).toMatchObject({ fate: 'same', log: { lastSequence: 2 } });
    expect(checks).toBe(2);
    expect((await world.ledger()).map(({ because }) => because)).toEqual(['dropped', 'dropped', null]);
  });

  // As nats-server answers for a moment after a pause in which the others have chosen another leader.
  test('whose former leader reports an old state is the same log', async () => {
    await using world = await open();
    const { database, nats } = world;
    const log = createEventLog(nats);
    await log.append(xEvent(1), null);
    const before = await readEventLog(nats);
    await log.append(xEvent(2), null);
    await coverTenMinutes(world);
    const { signal } = new AbortController();
    await createMatchedThrough(database).follow(() => readEventLog(nats), signal);
    let stale = 3;
    const readLog = async () => (stale-- > 0 ? before : await readEventLog(nats));
    const followed = await createMatchedThrough(database).follow(readLog, signal);
    expect(followed).toMatchObject({ fate: 'same', log: { lastSequence: 2 } });
    expect((await world.ledger()).map(({ because }) => because)).toEqual(['dropped', 'dropped', null]);
    stale = 3;
    // Control: a node that does not check twice records a loss.
    const hasty = await createMatchedThrough(database, 0).follow(readLog, signal);
    expect(hasty).toMatchObject({ fate: 'restored' });
  });

  test('whose former leader answers this node is the same log, although another node has recorded more', async () => {
    await using world = await open();
    const { database, nats } = world;
    const log = createEventLog(nats);
    const store = createMatchedThrough(database, certainAfterMs);
    const { signal } = new AbortController();
    await coverTenMinutes(world);
    await log.append(xEvent(1), null);
    const outdated = await readEventLog(nats);
    await log.append(xEvent(2), null);
    let checks = 0;
    // The other node reads the log from the new leader, and writes first.
    const followed = await store.follow(async () => {
      if (checks++ === 0) await store.follow(() => readEventLog(nats), signal);
      return checks <= 2 ? outdated : await readEventLog(nats);
    }, signal);
    expect(followed).toMatchObject({ fate: 'same', log: { lastSequence: 2 } });
    expect((await world.ledger()).map(({ because }) => because)).toEqual(['dropped', 'dropped', null]);
  });

  test('that was restored from an older copy is detected before anything in it counts as matched', async () => {
    await using world = await open();
    const { database, nats } = world;
    const log = createEventLog(nats);
    await log.append(xEvent(1), null);
    await coverTenMinutes(world);
    // As if the log had been ten events longer at the last check.
    await database.run('update event_log set last_sequence = 11');
    await database.run('insert into settled_batches (last_sequence, sequences) values (11, array[2, 11])');
    await world.record();
    expect(world.losses).toEqual(['restored']);
    expect(await world.ledger()).toEqual(cut);
    // The events that were settled under these numbers were others.
    expect(await database.many('select 1 from settled_batches')).toEqual([]);
  });

  test('that another node has recorded as lost or restored has no further matched events', async () => {
    await using world = await open();
    const { database, nats } = world;
    await createEventLog(nats).append(xEvent(1), null);
    const store = createMatchedThrough(database, certainAfterMs);
    const seen = await store.follow(() => readEventLog(nats), AbortSignal.timeout(20_000));
    if (!seen?.log) throw new Error('there is no log');
    const { since, log } = seen;
    await coverTenMinutes(world);
    const recent = async () => {
      await store.record(since, log);
      return await database.one(`select matched_through > ${ago(60)} as recent from match_progress`);
    };
    await database.run('update event_log set last_sequence = 0');
    expect(await recent()).toEqual({ recent: false });
    await database.run(`update event_log set last_sequence = 1, created_at = 'later'`);
    expect(await recent()).toEqual({ recent: false });
    await database.run('update event_log set created_at = $1', [log.createdAt]);
    expect(await recent()).toEqual({ recent: true });
  });

  test('control: one that only grows, or is idle, loses nothing', async () => {
    await using world = await open();
    await coverTenMinutes(world);
    await world.record();
    await world.record();
    expect(world.losses).toEqual([]);
    expect(await world.ledger()).toHaveLength(3);
  });
});

test('a check of the log finds no gaps if another node has overtaken it, or the log was lost', async () => {
  await using clone = await template.clone();
  await using database = openTestDatabase(clone.url);
  const settled = createSettledStore(database);
  await settled.begin({ settledThrough: 0, deliveredThrough: 0 });
  await database.run('insert into settled_batches (last_sequence, sequences) values (3, array[1, 3])');
  expect(await settled.unsettled(0, 3)).toEqual([2]);
  // The other node, which has taken the lease.
  await settled.advance(3);
  expect(await settled.unsettled(0, 3)).toEqual([]);
  expect(await settled.unsettled(0, 4)).toEqual([4]);
  await database.transaction((sql) => loseLog(sql));
  expect(await settled.unsettled(0, 4)).toEqual([]);
});

describe('a listener', () => {
  test('learns from its next proof that the ledger was cut, or restored', async () => {
    await using world = await open();
    const { database } = world;
    const intervals = createCoverageIntervals(database);
    const opened = await intervals.openCoverage('x:main');
    const proven = await intervals.proveCoverage('x:main', opened, 0);
    expect(proven).not.toBeNull();
    const interval = { ...opened, provenUntil: proven ?? new Date(0) };
    await database.run(
      `update coverage set from_at = ${ago(90)}, proven_until = ${ago(60)}, received_until = ${ago(60)}`,
    );
    expect(await intervals.proveCoverage('x:main', interval, 0)).toBeNull();
    await intervals.closeCoverage('x:main', opened.id, { because: 'log_lost', uncoveredMs: null });
    expect(await world.ledger()).toEqual([{ from: 90, to: 60, because: 'log_lost' }]);
  });

  test('knows that its log was lost until it listens again, whatever delays it', async () => {
    await using world = await open();
    const intervals = createCoverageIntervals(world.database);
    const lease = await createLeaseStore(world.database).acquire('ingest:x:main', 'me', 60_000);
    if (lease === null) throw new Error('another node has the lease');
    await coverTenMinutes(world);
    expect(await intervals.hasLostLog('x:main')).toBe(false);
    await world.nats.manager.streams.delete(eventsStream);
    await world.record();
    await intervals.explainGap(lease, 'x:main', 'unreachable');
    expect(await intervals.hasLostLog('x:main')).toBe(true);
    await intervals.openCoverage('x:main');
    expect(await intervals.hasLostLog('x:main')).toBe(false);
  });
});

describe('a database with a log of another installation', () => {
  const lostOrCopied = { logLost: false, isCopy: false };

  test('does not change the log until the operator decides', async () => {
    await using world = await open();
    await using elsewhere = await startTestNats();
    await using other = await connectNats(elsewhere.url, 'test');
    const claim = () => claimEventLog(world.database, other, stream);
    await expect(claim()).rejects.toThrow('earshot admin after-restore --log-lost');
    expect(await readEventLog(other)).toBeNull();
    await using admin = await openAdmin(world.databaseUrl);
    await admin.afterRestore(lostOrCopied);
    await expect(claim()).rejects.toThrow('not on this NATS server');
    await admin.afterRestore({ ...lostOrCopied, logLost: true });
    await claim();
    expect(await readEventLog(other)).not.toBeNull();
    // Now the former log belongs to another installation.
    await expect(claimEventLog(world.database, world.nats, stream)).rejects.toThrow(
      'not on this NATS server',
    );
  });

  test('becomes a separate installation once the operator declares it a copy', async () => {
    await using world = await open();
    const { database } = world;
    const identity = () => database.one('select id, cursor_secret from installation');
    const before = await identity();
    await using admin = await openAdmin(world.databaseUrl);
    await admin.afterRestore({ ...lostOrCopied, isCopy: true });
    expect(await identity()).not.toEqual(before);
    expect(await database.one('select created_at from event_log')).toEqual({ created_at: null });
    expect(await database.one('select server from match_log')).toEqual({ server: null });
  });
});
