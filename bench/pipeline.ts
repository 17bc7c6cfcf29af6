import { parseArgs } from 'node:util';
import pg from 'pg';
import { cpuSeconds, cpuShares } from './cpu-share.ts';
import { measureBarePath } from './pipeline/bare-path.ts';
import { startCollector } from './pipeline/collector.ts';
import { followLatencies, lastCursor, percentile } from './pipeline/latency.ts';
import { injectAll, injectAtRate } from './pipeline/load.ts';
import { startSystem } from './pipeline/system.ts';
import { startEngines } from './start-engines.ts';

/**
 * From a socket of the sandbox to visible matches, through the real server, three NATS nodes and PostgreSQL; beside
 * it the same number of messages of the same size through the bare engines. Then the time from receipt to
 * listable at half of that rate. `--rate R --seconds S` holds a rate instead of going as fast as it can; `--traces RATIO` has
 * the server export traces of so many items.
 */
const { values: given } = parseArgs({
  options: {
    events: { type: 'string', default: '30000' },
    rate: { type: 'string' },
    seconds: { type: 'string', default: '20' },
    'nats-nodes': { type: 'string', default: '3' },
    profile: { type: 'string' },
    traces: { type: 'string' },
  },
});
const seconds = Number(given.seconds);
const replicas = given['nats-nodes'] === '1' ? 1 : 3;
const rules = 20;
const say = (line: string) => process.stdout.write(`${line}\n`);

await using stack = new AsyncDisposableStack();
say('Starting the engines, the sandbox and the server');
const engines = await startEngines(stack, replicas);
const collector = given.traces === undefined ? null : stack.use(await startCollector());
const system = await startSystem(engines, stack, {
  rules,
  replicas,
  env: {
    ...(given.profile !== undefined && { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${given.profile}` }),
    ...(collector && { EARSHOT_TRACES_URL: collector.url, EARSHOT_TRACES_RATIO: given.traces }),
  },
});
const database = new pg.Pool({ connectionString: engines.postgresUrl, max: 1 });
stack.defer(() => database.end());

/** One match per event: the matches that a reader could see. */
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

const processes = {
  server: system.server.pid,
  sandbox: system.sandbox.pid,
  postgres: engines.postgresPid,
  ...Object.fromEntries(engines.nats.nodes.map(({ name, pid }) => [name, pid])),
  this: process.pid,
};

/** How many events per second came through, and who used the processors. */
async function measureOurPath(work: () => Promise<number>): Promise<number> {
  const before = { seen: await visible(), cpu: await cpuSeconds(processes) };
  const startedAt = performance.now();
  const items = await work();
  await untilVisible(before.seen + items, 120_000);
  const took = (performance.now() - startedAt) / 1_000;
  say(`ours: ${items} events in ${took.toFixed(1)} s, ${(items / took).toFixed(0)}/s`);
  say(`processor time: ${cpuShares(before.cpu, await cpuSeconds(processes))}`);
  return items / took;
}

let sent = 2_000;
await injectAll(system.load, sent);
await untilVisible(sent, 60_000);

const rate = given.rate === undefined ? null : Number(given.rate);
const eventsPerSecond = await measureOurPath(async () => {
  if (rate !== null) return await injectAtRate(system.load, { perSecond: rate, seconds, first: sent });
  await injectAll(system.load, Number(given.events));
  return Number(given.events);
});
sent = await visible();

const half = Math.max(1, Math.round((rate ?? eventsPerSecond) / 2));
let due = Number.POSITIVE_INFINITY;
const beforeFollowing = await cpuSeconds(processes);
const following = followLatencies(system, await lastCursor(system), () => due);
due = await injectAtRate(system.load, { perSecond: half, seconds: 15, first: 10_000_000 });
const latencies = await following;
say(
  `receipt to listed at ${half}/s: p50 ${percentile(latencies, 0.5)} ms, p99 ${percentile(latencies, 0.99)} ms, ` +
    `worst ${latencies.at(-1)} ms`,
);
say(`processor time: ${cpuShares(beforeFollowing, await cpuSeconds(processes))}`);

if (collector) say(`traces: ${collector.requests()} requests, ${(collector.bytes() / 1e6).toFixed(1)} MB`);
const { rows } = await database.query<{ bytes: string }>('select avg(length(payload)) as bytes from posts');
const bytes = Math.round(Number(rows[0]?.bytes)) + 300;
const messages = rate === null ? Number(given.events) : 30_000;
const bareSeconds = await measureBarePath(engines, { messages, bytes, replicas });
const barePerSecond = messages / bareSeconds;
say(
  `bare: ${messages} messages of ${bytes} bytes in ${bareSeconds.toFixed(1)} s, ${barePerSecond.toFixed(0)}/s`,
);
say(
  `events_per_s=${eventsPerSecond.toFixed(0)} bare_per_s=${barePerSecond.toFixed(0)} ` +
    `ratio=${(eventsPerSecond / barePerSecond).toFixed(2)}`,
);
