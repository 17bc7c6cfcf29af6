import { parseArgs } from 'node:util';
import pg from 'pg';
import { openDatabase } from '../apps/server/src/engines/database.ts';
import { readInstallation } from '../apps/server/src/engines/installation.ts';
import { migrate } from '../apps/server/src/engines/migrate.ts';
import { createMatchStore } from '../apps/server/src/matching/match-store.sql.ts';
import { copyDatabase, copyRules, openBarePath } from './pipeline/bare-path.ts';
import { startCollector } from './pipeline/collector.ts';
import { describe, type Figures, measure, median, spread, total } from './pipeline/figures.ts';
import { describeLatencies, followLatencies, lastCursor } from './pipeline/latency.ts';
import { injectAll, injectAtRate } from './pipeline/load.ts';
import { openLog } from './pipeline/read-log.ts';
import { startSystem } from './pipeline/system.ts';
import { startEngines } from './start-engines.ts';

/**
 * Measures the path from a sandbox socket to visible matches through the real server, three NATS nodes and PostgreSQL. It
 * alternates with a baseline, a plain client with the same statements, one event per message and packed. The result is the
 * processor time per event, because other load changes it least. Then it measures the time from receipt to listed at half of
 * the rate. With `--traces RATIO`, the server exports traces of this share of items.
 */
const { values: given } = parseArgs({
  options: {
    events: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '5' },
    'nats-nodes': { type: 'string', default: '3' },
    profile: { type: 'string' },
    traces: { type: 'string' },
  },
});
const events = Number(given.events);
const replicas = given['nats-nodes'] === '1' ? 1 : 3;
const rules = 20;
const packed = 32;
const say = (line: string) => process.stdout.write(`${line}\n`);

await using stack = new AsyncDisposableStack();
say('Starting the engines, the sandbox and the server');
const engines = await startEngines(stack, replicas);
await migrate(engines.postgresUrl);
for (const name of ['bare', 'packed']) await copyDatabase(engines, name);
const collector = given.traces === undefined ? null : stack.use(await startCollector());
const system = await startSystem(engines, stack, {
  rules,
  env: {
    ...(given.profile !== undefined && { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${given.profile}` }),
    ...(collector && {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: collector.url,
      OTEL_TRACES_SAMPLER_ARG: given.traces,
    }),
  },
});
const database = new pg.Pool({ connectionString: engines.postgresUrl, max: 1 });
stack.defer(() => database.end());

/** The matches that a reader can see; there is one per event. */
async function visible(): Promise<number> {
  const { rows } = await database.query<{ count: string }>(
    'select coalesce(sum(matches), 0) as count from usage',
  );
  return Number(rows[0]?.count);
}

async function untilVisible(count: number, deadlineMs: number): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  for (let seen = await visible(); seen < count; seen = await visible()) {
    if (performance.now() > deadline)
      throw new Error(`${seen} of ${count} matches are visible: events were lost`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const engineProcesses = {
  postgres: engines.postgresPid,
  ...Object.fromEntries(engines.nats.nodes.map(({ pid }, n) => [`nats-${n}`, pid])),
};
const ourProcesses = {
  server: system.server.pid,
  ...engineProcesses,
  sandbox: system.sandbox.pid,
  driver: process.pid,
};

const ours = (count: number) =>
  measure(ourProcesses, async () => {
    const before = await visible();
    await injectAll(system.load, count);
    await untilVisible(before + count, 120_000);
    return count;
  });

async function openBare() {
  const url = engines.postgresUrl;
  await using own = openDatabase({ url, connectionsMax: 1, onIdleError: () => undefined });
  const { id: installation } = await readInstallation(own);
  const slots = await own.many<{ id: string }>('select id from slots');
  const slotIds = slots.map(({ id }) => id);
  const holders = await createMatchStore(own).holdersOf({ slotIds, upstreamRules: [], searched: false });
  const open = async (name: string, eventsPerMessage: number) => {
    await copyRules(engines, name);
    const path = stack.use(
      await openBarePath(engines, { name, eventsPerMessage, replicas, installation, holders }),
    );
    const run = (bodies: readonly string[]) =>
      measure({ client: process.pid, ...engineProcesses }, async () => {
        await path.run(bodies);
        return bodies.length;
      });
    return { run, analyse: path.analyse };
  };
  return { bare: await open('bare', 1), packed: await open('packed', packed) };
}

const { bare, packed: floor } = await openBare();
const log = stack.use(await openLog(engines));

// From now on the planner has statistics, as it does one minute after the first start.
await ours(2_000);
const { bodies: first } = await log.readOn();
await Promise.all([bare.run(first), floor.run(first)]);
await Promise.all([database.query('analyze'), bare.analyse(), floor.analyse()]);

const rounds: Record<'ours' | 'bare' | 'packed', Figures>[] = [];
for (let round = 1; round <= Number(given.rounds); round++) {
  const one = { ours: await ours(events) };
  const { bodies, messages } = await log.readOn();
  const all = { ...one, bare: await bare.run(bodies), packed: await floor.run(bodies) };
  rounds.push(all);
  for (const [name, figures] of Object.entries(all)) say(`${round}. ${name}: ${describe(figures)}`);
  say(`${round}. ours had ${(bodies.length / messages).toFixed(1)} events a message`);
}

const eventsPerSecond = median(rounds.map(({ ours: { perSecond } }) => perSecond));
const half = Math.max(1, Math.round(eventsPerSecond / 2));
let due = Number.POSITIVE_INFINITY;
const following = followLatencies(system, await lastCursor(system), () => due);
due = await injectAtRate(system.load, { perSecond: half, seconds: 15, first: 10_000_000 });
const { whole, listing } = await following;
say(`receipt to listed at ${half}/s: ${describeLatencies(whole)}`);
say(`  of it written to listed: ${describeLatencies(listing)}`);
if (collector) say(`traces: ${collector.requests()} requests, ${(collector.bytes() / 1e6).toFixed(1)} MB`);

const totals = (name: 'ours' | 'bare' | 'packed') => rounds.map((round) => total(round[name]));
const ratios = rounds.map((round) => total(round.ours) / total(round.bare));
say(`µs of processor time per event, median (least–most) of ${rounds.length} rounds:`);
say(`  ours, with upstream and everything else   ${spread(totals('ours'))}`);
say(`  the same statements, one event a message  ${spread(totals('bare'))}`);
say(`  the same statements, ${packed} events a message  ${spread(totals('packed'))}`);
say(`  ours / one event a message                ${spread(ratios, 2)}`);
say(
  `events_per_s=${eventsPerSecond.toFixed(0)} cpu_us_per_event=${median(totals('ours')).toFixed(0)} ` +
    `bare_cpu_us_per_event=${median(totals('bare')).toFixed(0)} cpu_ratio=${median(ratios).toFixed(2)}`,
);
