import { fork } from 'node:child_process';
import { once } from 'node:events';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { openDatabase } from '../apps/server/src/engines/database.ts';
import { migrate } from '../apps/server/src/engines/migrate.ts';
import { ensurePartitions } from '../apps/server/src/matching/upkeep.ts';
import { cpuSeconds } from './cpu-share.ts';
import { median } from './pipeline/figures.ts';
import { root, startEngines } from './start-engines.ts';
import { type Order, orders, preparedFor } from './writers/orders.ts';
import type { WriterTask, Wrote } from './writers/writer.ts';

/**
 * How many matches a second several processes store through the server's own store: in the order of tickets, under one lock as
 * v0.1.0 did, and without any order, which nothing that keeps one can surpass (docs/adr/0038-ordered-commits.md).
 */
const { values: given } = parseArgs({
  options: {
    writers: { type: 'string', default: '1,2,4,8' },
    'per-post': { type: 'string', default: '1,10' },
    orders: { type: 'string', default: orders.join() },
    rounds: { type: 'string', default: '2' },
    seconds: { type: 'string', default: '4' },
    batch: { type: 'string', default: '500' },
    accounts: { type: 'string', default: '5' },
    rules: { type: 'string', default: '20' },
  },
});
const numbers = (list: string) => list.split(',').map(Number);
const [matchesPerBatch, accounts, rules] = [Number(given.batch), Number(given.accounts), Number(given.rules)];
const say = (line: string) => process.stdout.write(`${line}\n`);

await using stack = new AsyncDisposableStack();
const engines = await startEngines(stack, 1);
await withoutCheckpoints(engines.superuserUrl);
const databases = new Map<Order, string>();
for (const order of orders.filter((one) => given.orders.split(',').includes(one)))
  databases.set(order, await prepare(order));

/** One that falls into a measurement makes every page of it dearer. */
async function withoutCheckpoints(connectionString: string): Promise<void> {
  const admin = new pg.Client({ connectionString });
  await admin.connect();
  await admin.query(`alter system set max_wal_size = '20GB'`);
  await admin.query(`alter system set checkpoint_timeout = '1h'`);
  await admin.query('select pg_reload_conf()');
  await admin.end();
}

async function prepare(order: Order): Promise<string> {
  const url = new URL(engines.superuserUrl);
  const admin = new pg.Client({ connectionString: url.href });
  await admin.connect();
  const name = `writers_${order.replace(' ', '_')}`;
  await admin.query(`create database ${name}`);
  await admin.end();
  url.pathname = name;
  await migrate(url.href);
  await using database = openDatabase({ url: url.href, connectionsMax: 1, onIdleError: () => undefined });
  await ensurePartitions(database);
  await database.run(preparedFor[order]);
  return url.href;
}

interface Measured {
  readonly perSecond: number;
  readonly nodeMicros: number;
  readonly postgresMicros: number;
  readonly turnMicros: number;
}

let processes = 0;

function answerOf<Answer>([message]: Answer[]): Answer {
  if (message === undefined) throw new Error('a writer said nothing');
  return message;
}

async function measure(order: Order, writers: number, matchesPerPost: number): Promise<Measured> {
  const url = databases.get(order) ?? '';
  const task = {
    url,
    order,
    isAlone: writers === 1 && order !== 'no order',
    seconds: Number(given.seconds),
    matchesPerBatch,
    matchesPerPost,
    accounts,
    rules,
  };
  const children = Array.from({ length: writers }, () => fork(join(root, 'bench/writers/writer.ts')));
  const answers = <Answer>() =>
    Promise.all(children.map(async (child) => answerOf<Answer>(await once(child, 'message'))));
  const ready = answers<'ready'>();
  for (const child of children) child.send({ ...task, number: processes++ } satisfies WriterTask);
  await ready;
  const before = await cpuSeconds({ postgres: engines.postgresPid });
  const writing = answers<Wrote>();
  for (const child of children) child.send('go');
  const wrote = await writing;
  const after = await cpuSeconds({ postgres: engines.postgresPid });
  const matches = wrote.reduce((sum, one) => sum + one.matches, 0);
  return {
    perSecond: wrote.reduce((sum, one) => sum + one.matches / one.seconds, 0),
    nodeMicros: (1e6 * wrote.reduce((sum, one) => sum + one.cpuSeconds, 0)) / matches,
    turnMicros: (1e3 * wrote.reduce((sum, one) => sum + one.turnMs, 0)) / writers,
    postgresMicros: (1e6 * ((after['postgres'] ?? 0) - (before['postgres'] ?? 0))) / matches,
  };
}

say(
  `batches of ${matchesPerBatch} matches, ${rules} rules of ${accounts} accounts, load ${loadavg()[0]?.toFixed(1)}`,
);
for (const matchesPerPost of numbers(given['per-post'])) {
  for (const writers of numbers(given.writers)) {
    const rounds: Record<string, Measured[]> = {};
    for (let round = 0; round < Number(given.rounds); round++)
      for (const order of round % 2 ? [...databases.keys()].toReversed() : databases.keys())
        (rounds[order] ??= []).push(await measure(order, writers, matchesPerPost));
    for (const [order, measured] of Object.entries(rounds)) {
      const of = (key: keyof Measured) => Math.round(median(measured.map((one) => one[key])));
      const all = measured.map(({ perSecond }) => Math.round(perSecond)).join(', ');
      const turn =
        of('turnMicros') > 0 ? `; others wait ${(of('turnMicros') / 1_000).toFixed(1)} ms a batch` : '';
      say(
        `${matchesPerPost} per post, ${writers} writers, ${order.padEnd(8)} ${String(of('perSecond')).padStart(7)} matches/s (${all}); ` +
          `CPU per match: node ${of('nodeMicros')} µs, PostgreSQL ${of('postgresMicros')} µs${turn}`,
      );
    }
  }
}
say(`load ${loadavg()[0]?.toFixed(1)}`);
