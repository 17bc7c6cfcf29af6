import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startServerProgram } from '@earshot/engines';
import { startSandbox } from '@earshot/sandbox';
import { migrate, openAdmin } from '@earshot/server/admin';
import pg from 'pg';
import { fillAccount } from './api/fill-account.ts';
import { createCaller } from './caller.ts';
import { type Figures, measure, median, spread, total } from './pipeline/figures.ts';
import { ruleOn } from './rule-caller.ts';
import { root, startEngines } from './start-engines.ts';

/**
 * Measures `POST /matches` of 50 and CreateRule with a registered query, for accounts of three sizes. It alternates with a
 * baseline, a plain Fastify and `pg` on the same database. The result is the processor time per request of the server and
 * PostgreSQL together.
 */
const { values: given } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    requests: { type: 'string', default: '1000' },
    callers: { type: 'string', default: '8' },
    rules: { type: 'string', default: '10,10000,100000' },
    /** Only operations whose name begins with this. */
    only: { type: 'string', default: '' },
    /** Writes a processor profile of the server into this folder. */
    profile: { type: 'string' },
  },
});
const [rounds, requests, callers] = [Number(given.rounds), Number(given.requests), Number(given.callers)];
const sizes = given.rules.split(',').map(Number);
const knownValues = Array.from({ length: 40 }, (_, n) => `known${n}`);
const say = (line: string) => process.stdout.write(`${line}\n`);

await using stack = new AsyncDisposableStack();
say('Starting the engines and the servers');
const engines = await startEngines(stack, 1);
const { postgresUrl } = engines;
await migrate(postgresUrl);
const sandbox = stack.use(
  await startSandbox({ ruleDelayMs: 0, xApps: [{ token: 'bench', plan: 'enterprise', ruleCap: 25_000 }] }),
);
const server = stack.use(
  await startServerProgram({
    env: {
      EARSHOT_DATABASE_URL: postgresUrl,
      EARSHOT_NATS_URL: engines.nats.url,
      EARSHOT_X_TOKENS: 'main=bench',
      EARSHOT_X_BASE_URL: sandbox.url,
      EARSHOT_ACCOUNT_SHARE_PERCENT: '100',
      EARSHOT_RULE_BUDGET: 'off',
      EARSHOT_LOG_LEVEL: 'info',
      ...(given.profile && { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${given.profile}` }),
    },
    logFile: join(engines.dir, 'server.log'),
  }),
);
const bare = await startBareServer();
const ours = { url: server.ready.address, processes: { server: server.pid, postgres: engines.postgresPid } };
const plain = { url: bare.url, processes: { client: bare.pid, postgres: engines.postgresPid } };

async function startBareServer(): Promise<{ url: string; pid: number }> {
  const child = spawn(
    process.execPath,
    [join(root, 'bench/api/bare-server.ts'), postgresUrl, join(engines.dir, 'bare.log')],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  stack.defer(async () => {
    child.kill();
    if (child.exitCode === null) await once(child, 'exit');
  });
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
  if (child.pid === undefined) throw new Error('the bare server did not start');
  return { url: String(line).trim(), pid: child.pid };
}

/** Each caller sends the next request when it has its answer. */
async function ask(
  { url, processes }: typeof ours | typeof plain,
  { key, path, bodyOf }: { key: string; path: string; bodyOf: (n: number) => string },
): Promise<Figures> {
  using caller = createCaller(url, callers);
  return await measure(processes, async () => {
    let next = 0;
    await Promise.all(
      Array.from({ length: callers }, async () => {
        for (let n = next++; n < requests; n = next++) {
          const { status, text } = await caller.post(key, path, bodyOf(n));
          if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
        }
      }),
    );
    return requests;
  });
}

const operations = [
  { name: 'list 50', path: '/matches', bodyOf: () => JSON.stringify({ limit: 50 }) },
  {
    name: 'create on a known slot',
    path: '/api.CreateRule',
    bodyOf: (n: number) => ruleOn(knownValues[n % knownValues.length] ?? ''),
  },
];

await using admin = await openAdmin(postgresUrl);
await admin.setPlanLimits('paid', { rules: 1_000_000, requests: 10_000_000, changes: 10_000_000 });
const database = new pg.Pool({ connectionString: engines.superuserUrl, max: 1 });
stack.defer(() => database.end());

async function newAccount(rules: number): Promise<string> {
  const { accountId } = await admin.createAccount({ name: `${rules} rules` });
  const created = await admin.createKey({ accountId });
  if (!created) throw new Error('the account is gone');
  await fillAccount(engines, database, { accountId, rules });
  return created.key;
}

{
  const { accountId } = await admin.createAccount({ name: 'first' });
  const created = await admin.createKey({ accountId });
  using caller = createCaller(ours.url, callers);
  await Promise.all(
    knownValues.map(async (value) => {
      const { status, text } = await caller.post(created?.key ?? '', '/api.CreateRule', ruleOn(value));
      if (status !== 200) throw new Error(text);
    }),
  );
}

/** The processor time of all rounds in microseconds, for the program and PostgreSQL. */
function parts(rounds: readonly Figures[]): string {
  const program = median(rounds.map(({ cpu }) => (cpu['server'] ?? 0) + (cpu['client'] ?? 0)));
  const postgres = median(rounds.map(({ cpu }) => cpu['postgres'] ?? 0));
  return `${spread(rounds.map(total))} µs (${program.toFixed(0)} + PostgreSQL ${postgres.toFixed(0)})`;
}

const ratios: string[] = [];
for (const size of sizes) {
  // Two accounts of each size, which grow by the same creations.
  const [ourKey, plainKey] = [await newAccount(size), await newAccount(size)];
  await database.query('analyze');
  for (const { name, ...operation } of operations.filter((one) => one.name.startsWith(given.only))) {
    await Promise.all([
      ask(ours, { key: ourKey, ...operation }),
      ask(plain, { key: plainKey, ...operation }),
    ]);
    const [oursUs, plainUs]: [Figures[], Figures[]] = [[], []];
    for (let round = 0; round < rounds; round++) {
      oursUs.push(await ask(ours, { key: ourKey, ...operation }));
      plainUs.push(await ask(plain, { key: plainKey, ...operation }));
    }
    const ratio = oursUs.map((ours, round) => total(plainUs[round] ?? ours) / total(ours));
    say(
      `${name}, account of ${size} rules: ours ${parts(oursUs)}; bare ${parts(plainUs)}; bare / ours ${spread(ratio, 2)}`,
    );
    ratios.push(`${name.replaceAll(' ', '_')}_${size}=${median(ratio).toFixed(2)}`);
  }
}
say(ratios.join(' '));
