import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import pg from 'pg';
import { injectAll, injectAtRate } from './pipeline/load.ts';
import { startSystem } from './pipeline/system.ts';
import { startEngines } from './start-engines.ts';

/**
 * How many bytes an event takes in PostgreSQL, in its WAL and in the event log, through the real server; half of the
 * events are posts and half are pages, with one match each. docs/operations/sizing.md has the figures.
 */
const { values: given } = parseArgs({
  options: { rate: { type: 'string', default: '100' }, seconds: { type: 'string', default: '60' } },
});
const [perSecond, seconds] = [Number(given.rate), Number(given.seconds)];
const say = (line: string) => process.stdout.write(`${line}\n`);

await using stack = new AsyncDisposableStack();
say('Starting the engines, the sandbox and the server');
const engines = await startEngines(stack, 1);
const system = await startSystem(engines, stack, { rules: 20, env: {} });
const database = new pg.Pool({ connectionString: engines.postgresUrl, max: 1 });
stack.defer(() => database.end());
const nats = await connect({ servers: engines.nats.url });
stack.defer(() => nats.close());
const streams = (await jetstreamManager(nats)).streams;

async function ask(sql: string): Promise<number> {
  const { rows } = await database.query<{ value: string }>(`select (${sql}) as value`);
  return Number(rows[0]?.value);
}

const sizeOf = (table: string) =>
  ask(`select sum(pg_total_relation_size(relid)) from pg_partition_tree('${table}')`);

async function measure() {
  return {
    events: await ask('select count(*) from posts'),
    posts: await sizeOf('posts'),
    matches: await sizeOf('matches'),
    postgres: await ask('select pg_database_size(current_database())'),
    wal: await ask("select pg_current_wal_lsn() - '0/0'"),
    log: (await streams.info('EVENTS')).state.bytes,
    at: performance.now(),
  };
}

type Figures = Awaited<ReturnType<typeof measure>>;

async function untilStored(count: number): Promise<void> {
  while ((await ask('select coalesce(sum(matches), 0) from usage')) < count) await sleep(100);
}

// The first rows of a table take whole pages.
const warmUp = 2_000;
await injectAll(system.load, warmUp);
await untilStored(warmUp);

const idleFrom = await measure();
await sleep(250 * seconds);
const before = await measure();
const sent = await injectAtRate(system.load, { perSecond, seconds, first: warmUp });
await untilStored(warmUp + sent);
const after = await measure();

const events = after.events - before.events;
const walPerMsIdle = (before.wal - idleFrom.wal) / (before.at - idleFrom.at);
const perEvent = (key: keyof Figures) => (after[key] - before[key]) / events;
const rows: [string, number][] = [
  ['PostgreSQL, all', perEvent('postgres')],
  ['  posts and pages', perEvent('posts')],
  ['  matches', perEvent('matches')],
  ['WAL', perEvent('wal') - (walPerMsIdle * (after.at - before.at)) / events],
  ['event log', perEvent('log')],
];
const payload = (platform: string) =>
  ask(`select avg(octet_length(payload)) from posts where platform = '${platform}'`);
say(`${events} events at ${perSecond}/s, one match each`);
say(
  `payload: ${(await payload('x')).toFixed(0)} bytes a post, ${(await payload('firehose')).toFixed(0)} a page`,
);
say(`WAL of an idle server: ${((walPerMsIdle * 86_400_000) / 1e9).toFixed(1)} GB a day`);
say(`${''.padEnd(20)}${'bytes per event'.padStart(16)}${'a day at 100/s'.padStart(18)}`);
for (const [name, bytes] of rows) {
  const perDay = `${((bytes * 100 * 86_400) / 1e9).toFixed(1)} GB`;
  say(`${name.padEnd(20)}${bytes.toFixed(0).padStart(16)}${perDay.padStart(18)}`);
}
