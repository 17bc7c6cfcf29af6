import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startServerProgram } from '@earshot/engines';
import { startSandbox } from '@earshot/sandbox';
import { migrate } from '@earshot/server/admin';
import { buildServer } from '../apps/server/build/build-server.ts';
import { cpuSeconds } from './cpu-share.ts';
import { memoryMiB } from './memory.ts';
import { median, spread } from './pipeline/figures.ts';
import { root, startEngines } from './start-engines.ts';

/**
 * A server with all roles whose engines are up and whose database is migrated: from its start until `/readyz` says that it is
 * ready, and its memory when it has been idle for some seconds. As the image and systemd's unit start it, built, in turns with
 * its sources; each also with the compile cache of Node.
 */
const { values: given } = parseArgs({
  options: {
    starts: { type: 'string', default: '7' },
    'idle-seconds': { type: 'string', default: '10' },
    /** Writes processor profiles of the server into this folder. */
    profile: { type: 'string' },
  },
});
const say = (line: string) => process.stdout.write(`${line}\n`);

await using stack = new AsyncDisposableStack();
say('Starting the engines');
const engines = await startEngines(stack, 1);
await migrate(engines.postgresUrl);
const sandbox = stack.use(await startSandbox());

interface Start {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly idleMiB: number;
}

interface Kind {
  readonly name: string;
  readonly script?: string;
  readonly cache: Readonly<Record<string, string>>;
  readonly starts: Start[];
}

async function start({ script, cache }: Pick<Kind, 'script' | 'cache'>): Promise<Start> {
  const startedAt = performance.now();
  await using server = await startServerProgram({
    env: {
      EARSHOT_DATABASE_URL: engines.postgresUrl,
      EARSHOT_NATS_URL: engines.nats.url,
      EARSHOT_X_TOKENS: 'main=sandbox-x-token',
      EARSHOT_X_BASE_URL: sandbox.url,
      EARSHOT_FIREHOSE_TOKENS: 'main=fh_sandbox',
      EARSHOT_FIREHOSE_BASE_URL: sandbox.url,
      NODE_ENV: 'production',
      ...(given.profile && { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${given.profile}` }),
      ...cache,
    },
    logFile: join(engines.dir, 'server.log'),
    ...(script && { script }),
  });
  const ready = await fetch(`http://127.0.0.1:${server.ready.metricsPort}/readyz`);
  const wallMs = performance.now() - startedAt;
  if (!ready.ok) throw new Error(await ready.text());
  const { server: cpuS = 0 } = await cpuSeconds({ server: server.pid });
  await sleep(Number(given['idle-seconds']) * 1_000);
  return { wallMs, cpuMs: cpuS * 1_000, idleMiB: await memoryMiB(server.pid) };
}

const withCache = { NODE_COMPILE_CACHE: join(engines.dir, 'compile-cache') };
const builtDir = join(root, 'apps/server/dist/bench');
stack.defer(() => rm(builtDir, { recursive: true }));
await buildServer(builtDir);
const built = join(builtDir, 'main.mjs');
const kinds: readonly Kind[] = [
  { name: 'sources', cache: {}, starts: [] },
  { name: 'sources_cached', cache: withCache, starts: [] },
  { name: 'built', script: built, cache: {}, starts: [] },
  { name: 'built_cached', script: built, cache: withCache, starts: [] },
];
// Writes the cache, and warms up the file system and PostgreSQL.
for (const kind of kinds) await start(kind);
for (let n = 0; n < Number(given.starts); n++) for (const kind of kinds) kind.starts.push(await start(kind));

const figures: string[] = [];
for (const { name, starts } of kinds) {
  const of = (pick: (one: Start) => number) => starts.map(pick);
  const [wall, cpu, idle] = [of((one) => one.wallMs), of((one) => one.cpuMs), of((one) => one.idleMiB)];
  say(
    `${name}: ready after ${spread(wall)} ms with ${spread(cpu)} ms of processor time; ${spread(idle)} MiB when idle`,
  );
  figures.push(
    `${name}_ready_ms=${median(wall).toFixed(0)} ${name}_ready_cpu_ms=${median(cpu).toFixed(0)} ${name}_idle_mib=${median(idle).toFixed(0)}`,
  );
}
say(figures.join(' '));
