import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { startClients } from './readers/clients.ts';
import { startNodeUnderTest } from './readers/node-under-test.ts';
import { flood, writeMatches } from './readers/write-matches.ts';
import { startEngines } from './start-engines.ts';

/**
 * Many streams of matches (`GET /matches/stream`) on one node, some of which take nothing: the node's memory, and the
 * time from the commit of a match to its receipt by the others, each of which follows a rule of its own. Then the same
 * at a higher rate of matches.
 */
const { values: given } = parseArgs({
  options: {
    streams: { type: 'string', default: '10000' },
    stalled: { type: 'string', default: '1000' },
    rate: { type: 'string', default: '200' },
    'high-rate': { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '15' },
    'with-files': { type: 'string' },
  },
});
const streams = Number(given.streams);
const stalled = Number(given.stalled);
const seconds = Number(given.seconds);
/** By then the node has closed those that take nothing: 30 s, and some for what is still under way. */
const slowWithinMs = 40_000;
const say = (line: string) => process.stdout.write(`${line}\n`);

/** A connection is a file on both sides; a shell can raise the limit for what it starts, a program cannot for itself. */
if (given['with-files'] === undefined) {
  const again = [fileURLToPath(import.meta.url), ...process.argv.slice(2), '--with-files', 'yes'];
  const command = 'ulimit -n "$(ulimit -Hn)" && exec "$0" "$@"';
  const child = spawn('bash', ['-c', command, process.execPath, ...again], { stdio: 'inherit' });
  process.exitCode = await new Promise<number>((resolve) =>
    child.once('close', (code) => resolve(code ?? 1)),
  );
} else {
  await measure();
}

async function measure(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  say('Starting the engines and one api node');
  const engines = await startEngines(stack, 1);
  const node = await startNodeUnderTest(engines, stack, { rules: streams });
  const database = new pg.Pool({ connectionString: engines.postgresUrl, max: 4 });
  stack.defer(() => database.end());
  say(`memory of the node without readers: ${await memoryMiB(node.pid)} MiB`);

  const clients = await startClients({ node, streams, stalled }, stack);
  say(`${streams} streams open, ${stalled} of them stalled: ${await memoryMiB(node.pid)} MiB`);

  const bells = { url: engines.nats.url };
  await flood(database, bells);
  const floodedAt = performance.now();
  // To hand so much to the kernel takes the node some seconds; what is measured is the time after, while they stall.
  await new Promise((resolve) => setTimeout(resolve, 8_000));
  say(`the stalled ones flooded: ${await memoryMiB(node.pid)} MiB`);
  for (const rate of [Number(given.rate), Number(given['high-rate'])]) {
    const before = clients.received();
    const written = await writeMatches(database, { bells, rules: streams - stalled, rate, seconds });
    const startedAt = performance.now();
    while (clients.received() - before < written.matches && performance.now() - startedAt < 60_000) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const lag = ((performance.now() - startedAt) / 1_000).toFixed(1);
    const { p50, p99, worst } = clients.latencies();
    say(
      `asked ${rate}/s, written ${Math.round(written.perSecond)} matches/s for ${seconds} s: commit to receipt p50 ${p50} ms, ` +
        `p99 ${p99} ms, worst ${worst} ms; received ${clients.received() - before} of ${written.matches}, ` +
        `${lag} s after the last write; ${await memoryMiB(node.pid)} MiB`,
    );
  }
  const leftMs = floodedAt + slowWithinMs - performance.now();
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, leftMs)));
  const slow = await node.metric('earshot_match_stream_endings_total{ending="slow"}');
  const open = await node.metric('earshot_match_streams');
  say(`${slowWithinMs / 1_000} s after the flood: ${open} streams open, ${slow} closed as slow`);
}

async function memoryMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
}
