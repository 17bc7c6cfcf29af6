import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { describePace } from './machine-pace.ts';
import { memoryMiB } from './memory.ts';
import { measure } from './pipeline/figures.ts';
import { type Clients, type ClientsOptions, startClients } from './readers/clients.ts';
import { measureFloor } from './readers/floor.ts';
import { type NodeUnderTest, startNodeUnderTest } from './readers/node-under-test.ts';
import { flood, type Written, writeMatches } from './readers/write-matches.ts';
import { startEngines } from './start-engines.ts';

/**
 * Measures many match streams (`GET /matches/stream`) on one node, some of which read nothing: the node's memory, its
 * processor time per delivery, and the time from the commit of a match to its receipt. Each other stream follows its own rule.
 * Then the same at a higher rate. Finally, on a fresh node, all streams get every match of one account.
 *
 * Processor time is the node's, with PostgreSQL's for the node's connections beside it. It excludes the clients, which are in
 * this process, and the storing of matches. The floor is a baseline that only writes as many bytes.
 */
const { values: given } = parseArgs({
  options: {
    streams: { type: 'string', default: '10000' },
    stalled: { type: 'string', default: '1000' },
    rate: { type: 'string', default: '200' },
    'high-rate': { type: 'string', default: '10000' },
    'account-streams': { type: 'string', default: '5000' },
    'account-rate': { type: 'string', default: '4' },
    seconds: { type: 'string', default: '15' },
    /** Writes processor profiles of the nodes into this folder. */
    profile: { type: 'string' },
    'with-files': { type: 'string' },
  },
});
const seconds = Number(given.seconds);
/** After this time, the node has closed the stalled streams: 30 s, and a margin for data in flight. */
const slowWithinMs = 40_000;
const say = (line: string) => process.stdout.write(`${line}\n`);
const figures: string[] = [];

/** A connection is a file on both sides. A shell can raise the limit for its children, a program not for itself. */
if (given['with-files'] === undefined) {
  const again = [fileURLToPath(import.meta.url), ...process.argv.slice(2), '--with-files', 'yes'];
  const command = 'ulimit -n "$(ulimit -Hn)" && exec "$0" "$@"';
  const child = spawn('bash', ['-c', command, process.execPath, ...again], { stdio: 'inherit' });
  process.exitCode = await new Promise<number>((resolve) =>
    child.once('close', (code) => resolve(code ?? 1)),
  );
} else {
  const [streams, stalled] = [Number(given.streams), Number(given.stalled)];
  if (streams > 0) await followRules(streams, stalled);
  const accountStreams = Number(given['account-streams']);
  if (accountStreams > 0) await followAccount(accountStreams);
  say(figures.join(' '));
}

async function followRules(streams: number, stalled: number): Promise<void> {
  const bytes = await measureRules(streams, stalled);
  for (const rate of [Number(given.rate), Number(given['high-rate'])])
    await sayFloor(`rule_each_floor_us_at_${rate}`, { streams, follow: 'rule', rate, bytes });
}

/** Returns the bytes of an event. */
async function measureRules(streams: number, stalled: number): Promise<number> {
  await using stack = new AsyncDisposableStack();
  const { node, clients, write, floodStalled } = await start(stack, { streams, stalled, follow: 'rule' });
  const floodedAt = stalled > 0 ? await floodStalled() : 0;
  for (const rate of [Number(given.rate), Number(given['high-rate'])]) {
    const counted = { node, perMatch: 1 };
    const micros = await deliver(clients, counted, () => write(streams - stalled, rate), rate);
    figures.push(`rule_each_us_at_${rate}=${micros.toFixed(1)}`);
  }
  if (stalled === 0) return clients.bytes();
  await sleep(Math.max(0, floodedAt + slowWithinMs - performance.now()));
  const slow = await node.metric('earshot_match_stream_endings_total{ending="slow"}');
  const open = await node.metric('earshot_match_streams');
  say(`${slowWithinMs / 1_000} s after the flood: ${open} streams open, ${slow} closed as slow`);
  return clients.bytes();
}

async function followAccount(streams: number): Promise<void> {
  const bytes = await measureAccount(streams);
  const rate = Number(given['account-rate']);
  await sayFloor('one_account_floor_us', { streams, follow: 'account', rate, bytes });
}

async function sayFloor(
  name: string,
  options: { streams: number; follow: ClientsOptions['follow']; rate: number; bytes: number },
): Promise<void> {
  const micros = await measureFloor({ ...options, stalled: 0, seconds });
  say(
    `floor: ${micros.toFixed(1)} µs per delivery for a bare write of ${options.bytes} bytes to a socket; ${describePace()}`,
  );
  figures.push(`${name}=${micros.toFixed(1)}`);
}

/** Returns the bytes of an event. */
async function measureAccount(streams: number): Promise<number> {
  await using stack = new AsyncDisposableStack();
  const { node, clients, write } = await start(stack, { streams, stalled: 0, follow: 'account' });
  const rate = Number(given['account-rate']);
  const counted = { node, perMatch: streams };
  const micros = await deliver(clients, counted, () => write(streams, rate), rate);
  figures.push(`one_account_us=${micros.toFixed(1)}`);
  return clients.bytes();
}

/** Starts PostgreSQL, NATS, one node with the api role, and its clients. */
async function start(stack: AsyncDisposableStack, options: ClientsOptions) {
  say('Starting PostgreSQL, NATS and one api node');
  const engines = await startEngines(stack, 1);
  const { profile } = given;
  const node = await startNodeUnderTest(engines, stack, { rules: options.streams, profile });
  const database = new pg.Pool({ connectionString: engines.postgresUrl, max: 4 });
  stack.defer(() => database.end());
  say(`memory of the node without readers: ${await memoryMiB(node.pid)} MiB`);
  const clients = await startClients({ node, ...options }, stack);
  const { streams, stalled, follow } = options;
  say(`${streams} streams open (by ${follow}), ${stalled} of them stalled: ${await memoryMiB(node.pid)} MiB`);
  return {
    node,
    clients,
    write: (rules: number, rate: number) =>
      writeMatches(database, { natsUrl: engines.nats.url, rules, rate, seconds }),
    /** Returns the time at which the flood ended. */
    floodStalled: async (): Promise<number> => {
      await flood(database, engines.nats.url);
      const floodedAt = performance.now();
      // The node needs some seconds to write this much to the kernel. The measurement starts later, while the streams stall.
      await sleep(8_000);
      say(`after flooding the stalled streams: ${await memoryMiB(node.pid)} MiB`);
      return floodedAt;
    },
  };
}

/** Returns the node's processor time per delivery, in microseconds. */
async function deliver(
  clients: Clients,
  { node, perMatch }: { node: NodeUnderTest; perMatch: number },
  write: () => Promise<Written>,
  rate: number,
): Promise<number> {
  const before = clients.received();
  let line = '';
  const backends = (await node.backends()).map((pid) => [`postgres-${pid}`, pid]);
  const { cpu } = await measure({ server: node.pid, ...Object.fromEntries(backends) }, async () => {
    const written = await write();
    const due = written.matches * perMatch;
    const startedAt = performance.now();
    while (clients.received() - before < due && performance.now() - startedAt < 60_000) await sleep(50);
    const lag = ((performance.now() - startedAt) / 1_000).toFixed(1);
    const received = clients.received() - before;
    line =
      `target ${rate}/s, written ${written.perSecond.toFixed(0)} matches/s for ${seconds} s: received ${received} of ${due}, ` +
      `${lag} s after the last write`;
    return received;
  });
  const micros = cpu['server'] ?? Number.NaN;
  const { p50, p99, worst } = clients.latencies();
  say(
    `${line}; commit to receipt p50 ${p50} ms, p99 ${p99} ms, worst ${worst} ms; ${micros.toFixed(1)} µs of processor time ` +
      `per delivery, and ${cpu['postgres']?.toFixed(1)} of PostgreSQL; ${await memoryMiB(node.pid)} MiB; ${describePace()}`,
  );
  return micros;
}
