import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startServerProgram } from '@earshot/engines';
import { startSandbox } from '@earshot/sandbox';
import { migrate } from '@earshot/server/admin';
import pg from 'pg';
import { cpuSeconds } from './cpu-share.ts';
import { fillInstallation } from './idle/fill-installation.ts';
import { memoryMiB } from './memory.ts';
import { median, spread } from './pipeline/figures.ts';
import { startEngines } from './start-engines.ts';

/**
 * A server with all roles, PostgreSQL and NATS while nothing happens: the share of a core that each takes, the transactions, and
 * the server's memory, for installations of several sizes: the first, without rules, is what the others stand on. Rules are spread
 * over accounts and share the slots of one X credential.
 */
const { values: given } = parseArgs({
  options: {
    rules: { type: 'string', default: '0,100000' },
    accounts: { type: 'string', default: '100' },
    /** As many as X takes on one credential at most. */
    'slots-max': { type: 'string', default: '25000' },
    /** As far apart as the comparisons of so many slots with the upstream's rules are: each round has one. */
    seconds: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '2' },
    /** Writes a processor profile of the server into this folder. */
    profile: { type: 'string' },
  },
});
const [seconds, rounds] = [Number(given.seconds), Number(given.rounds)];
const slotsMax = Number(given['slots-max']);
const xToken = 'bench-x-token';
const say = (line: string) => process.stdout.write(`${line}\n`);
const figures: string[] = [];

for (const rules of given.rules.split(',').map(Number)) {
  await using stack = new AsyncDisposableStack();
  const engines = await startEngines(stack, 1);
  await migrate(engines.postgresUrl);
  const sandbox = stack.use(
    await startSandbox({
      rateLimits: false,
      xApps: [{ token: xToken, plan: 'enterprise', ruleCap: slotsMax }],
    }),
  );
  const database = new pg.Pool({ connectionString: engines.superuserUrl, max: 1 });
  stack.defer(() => database.end());
  const slots = Math.min(rules, slotsMax);
  await fillInstallation(database, {
    rules,
    slots,
    accounts: Number(given.accounts),
    upstream: { url: sandbox.url, token: xToken },
  });
  const server = stack.use(
    await startServerProgram({
      env: {
        EARSHOT_DATABASE_URL: engines.postgresUrl,
        EARSHOT_NATS_URL: engines.nats.url,
        EARSHOT_X_TOKENS: `main=${xToken}`,
        EARSHOT_X_BASE_URL: sandbox.url,
        EARSHOT_X_PLAN: 'enterprise',
        ...(given.profile && { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${given.profile}` }),
      },
      logFile: join(engines.dir, 'server.log'),
    }),
  );
  await sleep(10_000);
  const [nats] = engines.nats.nodes;
  const pids = { server: server.pid, postgres: engines.postgresPid, nats: nats?.pid ?? 0 };
  const percent = { server: [] as number[], postgres: [] as number[], nats: [] as number[] };
  const perSecond: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const [before, committed] = [await cpuSeconds(pids), await transactionsOf(database)];
    await sleep(seconds * 1_000);
    const after = await cpuSeconds(pids);
    perSecond.push(((await transactionsOf(database)) - committed) / seconds);
    for (const name of ['server', 'postgres', 'nats'] as const)
      percent[name].push((100 * ((after[name] ?? 0) - (before[name] ?? 0))) / seconds);
  }
  const memory = await memoryMiB(server.pid);
  const shares = Object.entries(percent).map(([name, rounds]) => `${name} ${spread(rounds, 1)} %`);
  say(
    `${rules} rules on ${slots} slots: ${shares.join(', ')} of a core, ${spread(perSecond, 1)} transactions/s, server ${memory} MiB`,
  );
  figures.push(
    ...Object.entries(percent).map(
      ([name, rounds]) => `${name}_percent_${rules}=${median(rounds).toFixed(1)}`,
    ),
    `transactions_${rules}=${median(perSecond).toFixed(1)} mib_${rules}=${memory}`,
  );
}
say(figures.join(' '));

/** PostgreSQL adds those of a connection up to a second late. */
async function transactionsOf(database: pg.Pool): Promise<number> {
  const { rows } = await database.query<{ committed: string }>(
    'select xact_commit + xact_rollback as committed from pg_stat_database where datname = current_database()',
  );
  return Number(rows[0]?.committed ?? 0);
}
