import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { describePace } from './machine-pace.ts';
import { injectAtRate } from './pipeline/load.ts';
import { startSystem } from './pipeline/system.ts';
import { startEngines } from './start-engines.ts';
import { followAll } from './sustained/follower.ts';
import { createLag } from './sustained/lag.ts';
import { describeProcesses, type Sample, sampleProcesses } from './sustained/processes.ts';
import { driftOf, judge } from './sustained/verdict.ts';

/**
 * So many events per second for minutes, through the real server with all roles, while one follower reads all matches. In the
 * middle PostgreSQL is killed, and started again after `--stop` seconds (0: not at all). At the end what was sent is compared with what is
 * stored and what was listed. Ends with 1 when something was lost or doubled, when the server's memory grows, or when the lag
 * stays. The figures are meaningful only on an idle machine.
 */
const { values: given } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    rate: { type: 'string', default: '2000' },
    stop: { type: 'string', default: '10' },
    'nats-nodes': { type: 'string', default: '3' },
    profile: { type: 'string' },
  },
});
const seconds = Number(given.minutes) * 60;
const rate = Number(given.rate);
const stopMs = Number(given.stop) * 1_000;
const natsNodes = given['nats-nodes'] === '1' ? 1 : 3;
const items = Math.round(rate * seconds);
const rowMs = 10_000;
/** After the last item was sent. */
const listedWithinMs = 60_000;
const say = (line: string) => process.stdout.write(`${line}\n`);

await using stack = new AsyncDisposableStack();
say('Starting the engines, the sandbox and the server');
const engines = await startEngines(stack, natsNodes);
const system = await startSystem(engines, stack, {
  rules: 20,
  env: given.profile === undefined ? {} : { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${given.profile}` },
});
const database = new pg.Pool({ connectionString: engines.postgresUrl, max: 1 });
// It is killed under this connection as well.
database.on('error', () => undefined);
stack.defer(() => database.end());

const listed = new Uint8Array(items);
const counts = { sent: 0, listed: 0 };
const lag = createLag(() => performance.now());
const follower = stack.use(
  followAll(system.server.ready.address, system.key, (one) => {
    listed[one.number] = (listed[one.number] ?? 0) + 1;
    counts.listed++;
    lag.listed(one);
  }),
);
await follower.opened;

const processes = () => ({
  server: system.server.pid,
  postgres: engines.postgresPid,
  ...Object.fromEntries(engines.nats.nodes.map(({ pid }, n) => [`nats-${n}`, pid])),
  sandbox: system.sandbox.pid,
  driver: process.pid,
});

/** One match per event. */
async function countStored(): Promise<number> {
  const { rows } = await database.query<{ count: string }>(
    'select coalesce(sum(matches), 0) as count from usage',
  );
  return Number(rows[0]?.count);
}

const samples: Sample[] = [await sampleProcesses(processes())];

/** A row for every ten seconds, until the signal. */
async function watch(signal: AbortSignal): Promise<void> {
  say('seconds: sent, stored, listed per second; ms until stored, listed (p50/p99/worst); MiB/% of a core');
  const beganAt = performance.now();
  let before = { sent: 0, stored: 0, listed: 0 };
  for (let n = 1; ; n++) {
    const leftMs = Math.max(0, beganAt + n * rowMs - performance.now());
    await sleep(leftMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    const stored = await countStored().catch(() => null);
    const now = { ...counts, stored: stored ?? before.stored };
    const perSecond = (key: keyof typeof now) => Math.round(((now[key] - before[key]) * 1_000) / rowMs);
    const sample = await sampleProcesses(processes());
    const last = samples.at(-1) ?? sample;
    samples.push(sample);
    say(
      `${n * 10}: ${perSecond('sent')} ${stored === null ? '–' : perSecond('stored')} ${perSecond('listed')}; ` +
        `${lag.describeRow()}; ${describeProcesses(last, sample)}; ${describePace()}`,
    );
    before = now;
  }
}

async function stopPostgresInTheMiddle(): Promise<void> {
  if (stopMs === 0) return;
  await sleep((seconds * 1_000) / 2 - stopMs / 2);
  const stoppedAt = performance.now();
  say('PostgreSQL is killed');
  await engines.crashPostgres(stopMs);
  lag.postgresIsBack();
  say(`PostgreSQL is back after ${((performance.now() - stoppedAt) / 1_000).toFixed(1)} s`);
}

const watching = new AbortController();
const rows = watch(watching.signal);
const startedAt = performance.now();
await Promise.all([
  injectAtRate(system.load, {
    perSecond: rate,
    seconds,
    first: 0,
    onSent: (count) => (counts.sent += count),
  }),
  stopPostgresInTheMiddle(),
]);
const sentPerSecond = (items * 1_000) / (performance.now() - startedAt);
const deadline = performance.now() + listedWithinMs;
while (counts.listed < items && performance.now() < deadline) await sleep(20);
// What comes twice may come later.
await sleep(1_000);
watching.abort();
await rows;

/** How often each item is stored, by its number. */
async function readStored(): Promise<Uint8Array> {
  const stored = new Uint8Array(items);
  const { rows: found } = await database.query<{ number: number; times: string }>(
    `select substring(payload from ' (?:post|page) (\\d+)')::integer as number, count(*) as times
     from matches join posts using (platform, event_key, event_day) group by number`,
  );
  for (const { number, times } of found) stored[number] = Number(times);
  return stored;
}

const stored = await readStored();
for (const name of Object.keys(processes())) {
  const drift = driftOf(samples, name);
  if (drift !== null) say(`memory of ${name} after the second minute: ${(100 * drift).toFixed(1)} %`);
}
const { line, broken } = judge({
  rate,
  sentPerSecond,
  stored,
  listed,
  samples,
  recoveryMs: stopMs === 0 ? 0 : lag.recoveryMs(),
});
for (const one of broken) say(`broken: ${one}`);
say(line);
if (broken.length > 0) process.exitCode = 1;
