import { setTimeout as sleep } from 'node:timers/promises';
import { migratedTemplate } from '@earshot/testkit';
import { expect, test } from 'vitest';
import { type Database, openDatabase } from '../src/engines/database.ts';
import { removeExpiredDays } from '../src/matching/retention.ts';
import { createDeliveryStore } from '../src/webhooks/delivery-store.sql.ts';
import { type ReaderWorld, startReaderWorld } from './reader-world.ts';
import { daysAgo, fillDay, type Size } from './size-world.ts';

/*
 * `pnpm test:size`: 50,000,000 matches in a day, with times, on a machine that does nothing else (some 20 GB on disk, half an hour).
 * In CI the same steps at a small size; that they read no more than they need is in `size.int.test.ts`.
 */
const isFull = process.env['FULL_SIZE'] === '1';
const size: Size & { readonly repeats: number } = isFull
  ? {
      matches: Number(process.env['FULL_SIZE_MATCHES'] ?? 50_000_000),
      rules: 1_000,
      quietAccounts: 10_000,
      day: daysAgo(1),
      repeats: 200,
    }
  : { matches: 200_000, rules: 100, quietAccounts: 500, day: daysAgo(1), repeats: 10 };
/** Of the busy account; most of them have no matches in the large day. */
const rulesOfAccount = size.rules * 10;
const matchesPerSecond = 500;

interface Figure {
  readonly what: string;
  readonly asked: number;
  readonly measured: number;
}

test('a large day: lists, claims, and its removal, while matches are being written', {
  timeout: isFull ? 7_200_000 : 120_000,
}, async () => {
  await using stack = new AsyncDisposableStack();
  const world = stack.use(await startReaderWorld(migratedTemplate(), { rules: rulesOfAccount, writers: 4 }));
  const owned = stack.use(openUnlimited(world.databaseUrl));
  const startedAt = performance.now();
  await fillDay(owned, size);
  console.info(`filled in ${seconds(startedAt)} s`);
  const lists = await openLists(world, stack);
  const writing = stack.use(startWriting(world));
  const figures: Figure[] = [];
  for (const [what, ask] of lists) {
    const ms = await repeat(size.repeats, ask);
    const median = Math.round(percentile(ms, 0.5));
    figures.push({
      what: `newest 50 ${what}, p99 ms (median ${median})`,
      asked: 50,
      measured: percentile(ms, 0.99),
    });
  }
  const deliveries = createDeliveryStore(world.database);
  const claim = () => deliveries.leaseDue({ max: 100, troubled: false });
  const claims = await repeat(size.repeats, async () => expect(await claim()).toEqual([]));
  figures.push({
    what: 'a look for webhooks to send to, longest ms',
    asked: 50,
    measured: Math.max(...claims),
  });
  const removing = await requestsDuring(lists, () => removeDay(owned));
  figures.push({ what: 'retention removes the day, ms', asked: 60_000, measured: removing.ms });
  figures.push({
    what: 'a request meanwhile, longest ms',
    asked: 2_000,
    measured: Math.max(...removing.requests),
  });
  const { written, perSecond, longestMs } = await writing.stop();
  figures.push({
    what: 'a transaction of matches all the time, longest ms',
    asked: 2_000,
    measured: longestMs,
  });
  console.table(
    figures.map(({ what, asked, measured }) => ({ what, asked, measured: Math.round(measured) })),
  );
  console.info(`${written} matches written meanwhile, ${Math.round(perSecond)} per second`);
  const left = await owned.one<{ count: number }>('select count(*) from matches');
  expect(left?.count).toBe(written);
  // Only a machine that does nothing else has times to rely on.
  if (!isFull) return;
  expect(figures.filter(({ asked, measured }) => measured > asked)).toEqual([]);
  expect(perSecond).toBeGreaterThan(matchesPerSecond * 0.95);
});

function openUnlimited(url: string): Database {
  return openDatabase({ url, connectionsMax: 1, statementTimeoutMs: 0, onIdleError: () => undefined });
}

type Ask = () => Promise<unknown>;

async function openLists(world: ReaderWorld, stack: AsyncDisposableStack): Promise<[string, Ask][]> {
  const api = stack.use(await world.startApi());
  const { key } = await world.newKey();
  const quiet = await world.newKey('quiet_7');
  const list =
    (body: object, count: number, by = key) =>
    async () => {
      const { status, json } = await api.call(by, '/matches', { limit: 50, ...body });
      expect({ status, count: (json as { matches?: unknown[] }).matches?.length }).toEqual({
        status: 200,
        count,
      });
    };
  const time = (of: number) => new Date(Date.parse(size.day) + of * 86_400_000).toISOString();
  const rule = { rule_id: 'rule_7' };
  return [
    ['by account', list({}, 50)],
    ['by rule', list(rule, 50)],
    ['of a rule with few matches', list({ rule_id: `rule_${size.rules}` }, 10)],
    ['of a rule with none', list({ rule_id: `rule_${rulesOfAccount}` }, 0)],
    ['by platform', list({ platform: 'x' }, 50)],
    ['by a platform that is rare', list({ platform: 'firehose' }, 50)],
    ['by rule and rare platform', list({ ...rule, platform: 'firehose' }, 5)],
    ['until a time', list({ until: time(0.4) }, 50)],
    ['since a time, oldest first', list({ since: time(0.6), order: 'oldest' }, 50)],
    ['between times, by rule', list({ ...rule, since: time(0.2), until: time(0.8) }, 50)],
    ['of a quiet account', list({}, 1, quiet.key)],
  ];
}

/** Warm: what comes first on a connection is left out. */
async function repeat(times: number, ask: Ask): Promise<number[]> {
  for (let n = 0; n < 10; n++) await ask();
  const ms: number[] = [];
  for (let n = 0; n < times; n++) ms.push(await timed(ask));
  return ms;
}

async function timed(ask: Ask): Promise<number> {
  const startedAt = performance.now();
  await ask();
  return performance.now() - startedAt;
}

function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? 0;
}

const seconds = (startedAt: number) => Math.round((performance.now() - startedAt) / 1_000);

/** Those that have as many also when the large day is gone. */
async function requestsDuring(lists: readonly [string, Ask][], work: () => Promise<unknown>) {
  const over = new AbortController();
  const working = timed(work).finally(() => over.abort());
  const asks = lists.filter(([what]) => what === 'by account' || what === 'by platform');
  const requests: number[] = [];
  while (!over.signal.aborted) {
    for (const [, ask] of asks) requests.push(await timed(ask));
    await sleep(20);
  }
  return { ms: await working, requests };
}

async function removeDay(database: Database): Promise<void> {
  const removed: string[] = [];
  const dayRemoved = ({ table }: { table: string }) => void removed.push(table);
  await removeExpiredDays({ database, retentionDays: 0, telemetry: { dayRemoved } });
  expect(removed).toContain(`matches_${size.day.replaceAll('-', '')}`);
}

/** Through the real store, ten transactions a second. The rule with few matches gets none. */
function startWriting(world: ReaderWorld) {
  const startedAt = performance.now();
  const over = new AbortController();
  let written = 0;
  let longestMs = 0;
  const writing = (async () => {
    while (!over.signal.aborted) {
      const due = Math.floor(((performance.now() - startedAt) / 1_000) * matchesPerSecond) - written;
      const rules = Array.from(
        { length: Math.min(due, 1_000) },
        (_, n) => 1 + ((written + n) % (size.rules - 1)),
      );
      if (rules.length > 0) longestMs = Math.max(longestMs, await timed(() => world.write(rules)));
      written += rules.length;
      await sleep(100);
    }
    return { written, longestMs, perSecond: (written * 1_000) / (performance.now() - startedAt) };
  })();
  const stop = () => {
    over.abort();
    return writing;
  };
  return { stop, [Symbol.asyncDispose]: async () => void (await stop()) };
}
