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
 * A server with all roles, and PostgreSQL, while nothing happens: the share of a core that each takes, and the server's memory,
 * for installations of several sizes. Rules are spread over accounts and share the slots of one X credential.
 */
const { values: given } = parseArgs({
  options: {
    rules: { type: 'string', default: '10,100000' },
    accounts: { type: 'string', default: '100' },
    /** As many as X takes on one credential at most. */
    'slots-max': { type: 'string', default: '25000' },
    /** Longer than the 30 s between two comparisons with the upstream's rules. */
    seconds: { type: 'string', default: '60' },
    rounds: { type: 'string', default: '3' },
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
  const pids = { server: server.pid, postgres: engines.postgresPid };
  const percent = { server: [] as number[], postgres: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    const before = await cpuSeconds(pids);
    await sleep(seconds * 1_000);
    const after = await cpuSeconds(pids);
    const used = (name: keyof typeof pids) => (100 * ((after[name] ?? 0) - (before[name] ?? 0))) / seconds;
    percent.server.push(used('server'));
    percent.postgres.push(used('postgres'));
  }
  const memory = await memoryMiB(server.pid);
  say(
    `${rules} rules on ${slots} slots: server ${spread(percent.server, 1)} % of a core, postgres ${spread(percent.postgres, 1)} %, ` +
      `server ${memory} MiB`,
  );
  figures.push(
    `server_percent_${rules}=${median(percent.server).toFixed(1)} postgres_percent_${rules}=${median(percent.postgres).toFixed(1)} ` +
      `mib_${rules}=${memory}`,
  );
}
say(figures.join(' '));
