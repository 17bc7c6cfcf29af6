import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { findNatsServer, startNats, startPostgres, startProgram } from '@earshot/engines';
import { startSandbox } from '@earshot/sandbox';
import { openAdmin } from '@earshot/server/admin';

/**
 * How fast rules come in through the API of one server: values that are registered already, and distinct values on four
 * X apps, whose limits (100 calls of 100 rules per 15 min and app) pass `pace` times faster here than in life.
 */
const { values: given } = parseArgs({
  options: {
    known: { type: 'string', default: '3000' },
    distinct: { type: 'string', default: '10000' },
    callers: { type: 'string', default: '400' },
    pace: { type: 'string', default: '60' },
  },
});
const known = Number(given.known);
const distinct = Number(given.distinct);
const callers = Number(given.callers);
const pace = Number(given.pace);

const root = fileURLToPath(new URL('..', import.meta.url));
const tokens = ['one', 'two', 'three', 'four'];
const callsPerWindow = 100;
const rulesPerCall = 100;
const windowSeconds = 900;

await using stack = new AsyncDisposableStack();
const dir = await mkdtemp(join(tmpdir(), 'earshot-bench-'));
// Root's PostgreSQL runs as another user, who must get through to its data.
await chmod(dir, 0o711);
stack.defer(() => rm(dir, { recursive: true, force: true }));
const natsServer = await findNatsServer({
  cacheDir: join(root, '.earshot/cache'),
  configured: process.env['EARSHOT_NATS_SERVER'],
});
const postgres = stack.use(await startPostgres({ dir: join(dir, 'postgres') }));
const nats = stack.use(await startNats({ server: natsServer, dir: join(dir, 'nats'), nodes: 1 }));
const sandbox = stack.use(
  await startSandbox({
    speed: pace,
    ruleDelayMs: 0,
    xApps: tokens.map((token) => ({ token, plan: 'enterprise', ruleCap: 25_000 })),
  }),
);
const admin = stack.use(await openAdmin(postgres.url));
const server = stack.use(
  await startProgram({
    name: 'the server',
    script: join(root, 'apps/server/src/main.ts'),
    env: {
      PATH: process.env['PATH'],
      EARSHOT_DATABASE_URL: postgres.url,
      EARSHOT_NATS_URL: nats.url,
      EARSHOT_X_TOKENS: tokens.map((token) => `${token}=${token}`).join(','),
      EARSHOT_X_BASE_URL: sandbox.url,
      EARSHOT_X_RULE_CAPACITY: '25000',
      EARSHOT_PREMIUM_RULES_MAX: '1000000',
      EARSHOT_UPSTREAM_PACE: String(pace),
      EARSHOT_PORT: '0',
      EARSHOT_METRICS_PORT: '0',
      EARSHOT_LOG_LEVEL: 'info',
    },
    logFile: join(dir, 'server.log'),
    readReady: (line) => (line.includes('earshot is up') ? String(JSON.parse(line)['address']) : undefined),
  }),
);
const keys = await Promise.all(Array.from({ length: 20 }, () => newKey()));

async function newKey(): Promise<string> {
  const { accountId } = await admin.createAccount({ name: 'bench' });
  const created = await admin.createKey({ accountId });
  if (!created) throw new Error('the account is gone');
  return created.key;
}

const say = (line: string) => process.stdout.write(`${line}\n`);

let refusals = 0;

/** Asks again when it is told to come back. */
async function create(n: number, value: string): Promise<void> {
  for (;;) {
    const answer = await fetch(new URL('/api.CreateRule', server.ready), {
      method: 'POST',
      headers: { authorization: `Bearer ${keys[n % keys.length]}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        name: 'bench',
        intent: 'to measure',
        platforms: ['x'],
        overrides: { x: value },
      }),
    });
    const text = await answer.text();
    if (answer.status === 200) return;
    if (answer.status !== 503 && answer.status !== 504) throw new Error(`${answer.status}: ${text}`);
    refusals++;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Seconds for `count` creations by so many callers, each of which asks for the next when it has its answer. */
async function measure(count: number, concurrent: number, valueOf: (n: number) => string): Promise<number> {
  const startedAt = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: concurrent }, async () => {
      for (let n = next++; n < count; n = next++) await create(n, valueOf(n));
    }),
  );
  return (performance.now() - startedAt) / 1_000;
}

async function callsMade(): Promise<{ made: number; refused: number }> {
  const sum = { made: 0, refused: 0 };
  for (const token of tokens) {
    const answer = await fetch(new URL(`/sandbox/x/state?token=${token}`, sandbox.url));
    const state = (await answer.json()) as { rule_calls: { change: { made: number; refused: number } } };
    sum.made += state.rule_calls.change.made;
    sum.refused += state.rule_calls.change.refused;
  }
  return sum;
}

const knownValues = 40;
await measure(knownValues, knownValues, (n) => `known${n}`);
const seconds = await measure(known, 32, (n) => `known${n % knownValues}`);
say(`already registered: ${known} creations in ${seconds.toFixed(1)} s, ${(known / seconds).toFixed(0)}/s`);

const before = await callsMade();
const perCall = Math.min(rulesPerCall, callers / tokens.length);
const callsPerSource = Math.ceil(distinct / tokens.length / perCall);
const floorSeconds = (Math.ceil(callsPerSource / callsPerWindow) - 1) * windowSeconds;
refusals = 0;
const took = await measure(distinct, callers, (n) => `distinct${n}`);
const after = await callsMade();
say(
  `distinct: ${distinct} creations by ${callers} callers on ${tokens.length} apps in ${took.toFixed(1)} s at pace ${pace}, ` +
    `${after.made - before.made} calls, ${after.refused} refused by X, ${refusals} callers told to come back`,
);
say(
  `what the limits allow: ${callsPerSource} calls per app of ${perCall} rules: at least ${floorSeconds} s, ` +
    `${(floorSeconds / pace).toFixed(1)} s at this pace`,
);
