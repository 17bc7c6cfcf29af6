import { eventually, startTcpProxy, type Template } from '@earshot/testkit';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../src/engines/database.ts';
import {
  assertLease,
  createLeaseStore,
  type Lease,
  LeaseLost,
  type LeaseStore,
  runUnderLease,
  writeFenced,
} from '../src/engines/leases.ts';
import { delayNextUpdate } from './late-update.ts';
import { createMigratedTemplate, openTestDatabase, silentLog } from './support.ts';

const soon = { timeoutMs: 100_000 };

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

async function openLeases() {
  await using stack = new AsyncDisposableStack();
  const clone = stack.use(await template.clone());
  const database = stack.use(openTestDatabase(clone.url));
  const all = stack.move();
  return {
    url: clone.url,
    database,
    store: createLeaseStore(database),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

function expire(database: Database): Promise<number> {
  return database.run(`update leases set expires_at = now() - interval '1 second'`);
}

async function taken(store: LeaseStore, holder: string, ttlMs = 60_000): Promise<Lease> {
  const lease = await store.acquire('work', holder, ttlMs);
  if (!lease) throw new Error(`${holder} did not get the lease`);
  return lease;
}

describe('the lease store', () => {
  test('keeps the later end if an older renewal is stored last', async () => {
    await using leases = await openLeases();
    const { database, store } = leases;
    const lease = await taken(store, 'first');
    await using delay = await delayNextUpdate(database, 'leases');
    const late = store.renew(lease, 60_000);
    await delay.waits();
    expect(await store.renew(lease, 60_000)).toBe(true);
    const end = () => database.one('select expires_at from leases');
    const before = await end();
    await delay.release();
    expect(await late).toBe(true);
    expect(await end()).toEqual(before);
  });

  test('is free after its release although a renewal is stored late', async () => {
    await using leases = await openLeases();
    const { database, store } = leases;
    const lease = await taken(store, 'first');
    await using delay = await delayNextUpdate(database, 'leases');
    const late = store.renew(lease, 60_000);
    await delay.waits();
    await store.release(lease);
    await delay.release();
    expect(await late).toBe(false);
    expect(await store.acquire('work', 'second', 60_000)).toMatchObject({ holder: 'second' });
  });

  test('gives a free or expired lease to exactly one of twenty concurrent nodes, with a later epoch', async () => {
    await using leases = await openLeases();
    let epoch = 0;
    for (const _turn of ['free', 'expired']) {
      const attempts = Array.from({ length: 20 }, (_, n) =>
        leases.store.acquire('work', `node-${n}`, 60_000),
      );
      const got = (await Promise.all(attempts)).filter((lease) => lease !== null);
      expect(got).toHaveLength(1);
      expect(Number(got[0]?.epoch)).toBeGreaterThan(epoch);
      epoch = Number(got[0]?.epoch);
      await expire(leases.database);
    }
  });

  test('renews for its holder and not for the previous one', async () => {
    await using leases = await openLeases();
    const old = await taken(leases.store, 'first');
    await expire(leases.database);
    const current = await taken(leases.store, 'second');
    expect(await leases.store.renew(old, 60_000)).toBe(false);
    expect(await leases.store.renew(current, 60_000)).toBe(true);
    await leases.store.release(old);
    expect(await leases.store.acquire('work', 'third', 60_000)).toBeNull();
    await leases.store.release(current);
    expect(await leases.store.acquire('work', 'third', 60_000)).toMatchObject({ holder: 'third' });
  });

  test('rejects holders from before a restore, even one that takes the lease again', async () => {
    await using leases = await openLeases();
    const first = await taken(leases.store, 'first');
    await leases.database.run('create table backup as select * from leases');
    await expire(leases.database);
    const second = await taken(leases.store, 'second');
    await leases.database.run('delete from leases');
    await leases.database.run('insert into leases select * from backup');
    await expire(leases.database);
    const third = await taken(leases.store, 'first');
    expect(third.epoch).not.toBe(second.epoch);
    expect(await leases.store.renew(first, 60_000)).toBe(false);
    // Also if the clock has not advanced, for instance because it was set back.
    await leases.database.run('update leases set epoch = $1', [second.epoch]);
    const repeated = { ...third, epoch: second.epoch };
    expect(await leases.store.renew(second, 60_000)).toBe(false);
    await expect(assertLease(leases.database, second)).rejects.toThrow(LeaseLost);
    await leases.store.release(second);
    expect(await leases.store.renew(repeated, 60_000)).toBe(true);
    expect(await leases.store.acquire('work', 'third', 60_000)).toBeNull();
  });

  test('rejects the write of a holder that continues too late', async () => {
    await using leases = await openLeases();
    const old = await taken(leases.store, 'first');
    const write = (lease: Lease) =>
      leases.database.transaction(async (sql) => {
        await assertLease(sql, lease);
        return await sql.run(`insert into accounts (id, name, plan) values ($1, 'one', 'paid')`, [
          `acc_${lease.epoch}`,
        ]);
      });
    expect(await write(old)).toBe(1);
    await expire(leases.database);
    const current = await taken(leases.store, 'second');
    await expect(write(old)).rejects.toThrow(LeaseLost);
    expect(await write(current)).toBe(1);
  });

  test('rejects such a write also as a single statement, with all its parts', async () => {
    await using leases = await openLeases();
    const old = await taken(leases.store, 'first');
    const add = `insert into accounts (id, name, plan) select $4, 'one', 'paid' from held`;
    const replace = `, gone as (delete from accounts using held where id <> $4) ${add}`;
    await writeFenced(leases.database, old, { text: ` ${add}`, values: ['acc_old'] });
    await expire(leases.database);
    const current = await taken(leases.store, 'second');
    const ids = () => leases.database.many('select id from accounts');
    const late = writeFenced(leases.database, old, { text: replace, values: ['acc_late'] });
    await expect(late).rejects.toThrow(LeaseLost);
    expect(await ids()).toEqual([{ id: 'acc_old' }]);
    await writeFenced(leases.database, current, { text: replace, values: ['acc_new'] });
    expect(await ids()).toEqual([{ id: 'acc_new' }]);
  });

  test('allows no takeover between the proof and the commit of a write', async () => {
    await using leases = await openLeases();
    const lease = await taken(leases.store, 'first');
    await expire(leases.database);
    let takeover: Promise<Lease | null> | undefined;
    const order: string[] = [];
    await leases.database.transaction(async (sql) => {
      await assertLease(sql, lease);
      takeover = leases.store.acquire('work', 'second', 60_000).finally(() => order.push('taken over'));
      await eventually(
        async () =>
          expect(
            await leases.database.many(`select 1 from pg_stat_activity where wait_event_type = 'Lock'
              and datname = current_database()`),
          ).toHaveLength(1),
        soon,
      );
      order.push('written');
    });
    expect(await takeover).toMatchObject({ holder: 'second' });
    expect(order).toEqual(['written', 'taken over']);
  });
});

/** Holds the lease and reports for how long; `stopped` resolves when the holder was asked to stop. */
function holder(store: LeaseStore, name: string, options: { ttlMs: number; outlivesStore?: boolean }) {
  const stop = new AbortController();
  const started = Promise.withResolvers<Lease>();
  const stopped = Promise.withResolvers<number>();
  const running = runUnderLease(
    { store, name: 'work', holder: name, log: silentLog, ...options },
    stop.signal,
    async (lease, signal) => {
      started.resolve(lease);
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      stopped.resolve(performance.now());
    },
  );
  return {
    started: started.promise,
    stopped: stopped.promise,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

describe('work under a lease', () => {
  test('passes to the next node as soon as the first one stops', async () => {
    await using leases = await openLeases();
    const first = holder(leases.store, 'node-1', { ttlMs: 1_500 });
    await first.started;
    await using second = holder(leases.store, 'node-2', { ttlMs: 1_500 });
    await first[Symbol.asyncDispose]();
    expect(await second.started).toMatchObject({ holder: 'node-2' });
  });

  test('logs one warning about a lost lease, however it is noticed, and none about a released one', async () => {
    await using leases = await openLeases();
    const lines: string[] = [];
    const log = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line).msg) });
    const stop = new AbortController();
    const turns = [
      async () => undefined,
      async () => Promise.reject(new LeaseLost({ name: 'work', holder: 'node-1', epoch: '1' })),
      async (signal: AbortSignal) => {
        // The next renewal fails.
        await leases.database.run(`update leases set holder = 'node-2', expires_at = now()`);
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      },
      async () => stop.abort(),
    ];
    await runUnderLease(
      { store: leases.store, name: 'work', holder: 'node-1', log, ttlMs: 600 },
      stop.signal,
      async (_lease, signal) => await turns.shift()?.(signal),
    );
    const [taken, lost] = ['lease acquired', 'lease lost'];
    expect(lines).toEqual([taken, taken, lost, taken, lost, taken]);
  });

  test('passes to the next node if the first one cannot renew, and the first one has stopped by then', async () => {
    await using leases = await openLeases();
    let attempts = 0;
    const mute: LeaseStore = {
      acquire: (...given) => (attempts++ === 0 ? leases.store.acquire(...given) : Promise.resolve(null)),
      renew: () => Promise.reject(new Error('cut off')),
      release: () => Promise.reject(new Error('cut off')),
    };
    await using first = holder(mute, 'node-1', { ttlMs: 3_000 });
    await first.started;
    await using second = holder({ ...leases.store }, 'node-2', { ttlMs: 3_000 });
    const [stoppedAt, takenAt] = await Promise.all([
      first.stopped,
      second.started.then(() => performance.now()),
    ]);
    expect(stoppedAt).toBeLessThan(takenAt);
  });

  test('stops before its time is over if the database does not answer', async () => {
    await using leases = await openLeases();
    const target = new URL(leases.url);
    await using proxy = await startTcpProxy({ target: { host: target.hostname, port: Number(target.port) } });
    target.host = proxy.address;
    await using database = openTestDatabase(target.href, 1);
    await using work = holder(createLeaseStore(database), 'node-1', { ttlMs: 3_000 });
    await work.started;
    const silentFrom = performance.now();
    proxy.pause();
    const stoppedAfterMs = (await work.stopped) - silentFrom;
    expect(proxy.fired.held).toBeGreaterThan(0);
    proxy.resume();
    expect(stoppedAfterMs).toBeLessThan(3_000);
  });

  test('continues without the database where that is allowed, and stops if another node has the lease', async () => {
    await using leases = await openLeases();
    let refused = 0;
    let cutOff = true;
    const store: LeaseStore = {
      ...leases.store,
      renew: (lease, ttlMs) => {
        if (!cutOff) return leases.store.renew(lease, ttlMs);
        refused++;
        return Promise.reject(new Error('cut off'));
      },
    };
    await using work = holder(store, 'node-1', { ttlMs: 600, outlivesStore: true });
    await work.started;
    // Six thirds of its time to live: without the permission it would have stopped.
    await eventually(() => expect(refused).toBeGreaterThanOrEqual(6), soon);
    const still = Symbol('still running');
    expect(await Promise.race([work.stopped, Promise.resolve(still)])).toBe(still);
    await expire(leases.database);
    await taken(leases.store, 'node-2');
    cutOff = false;
    await work.stopped;
  });
});
