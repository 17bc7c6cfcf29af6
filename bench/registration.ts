import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startServerProgram } from '@earshot/engines';
import { startSandbox } from '@earshot/sandbox';
import { migrate, openAdmin } from '@earshot/server/admin';
import { bareUpstreamSeconds } from './bare-upstream.ts';
import { cpuSeconds, cpuShares } from './cpu-share.ts';
import { createRuleCaller } from './rule-caller.ts';
import { startEngines } from './start-engines.ts';

/**
 * Measures how fast the API of one server creates rules: queries that are already registered, and distinct queries on four
 * X apps, whose limits (100 calls of 100 rules per 15 min and app) are `pace` times faster here.
 */
const { values: given } = parseArgs({
  options: {
    known: { type: 'string', default: '10000' },
    distinct: { type: 'string', default: '10000' },
    /** Concurrent callers, for registered and for distinct queries. */
    'known-callers': { type: 'string', default: '16' },
    callers: { type: 'string', default: '400' },
    accounts: { type: 'string', default: '100' },
    pace: { type: 'string', default: '1' },
    /** Writes a processor profile of the server into this folder. */
    profile: { type: 'string' },
  },
});
const known = Number(given.known);
const distinct = Number(given.distinct);
const callers = Number(given.callers);
const knownCallers = Number(given['known-callers']);
const accounts = Number(given.accounts);
const pace = Number(given.pace);

const tokens = ['one', 'two', 'three', 'four'];
const bareTokens = tokens.map((token) => `bare-${token}`);
const callsPerWindow = 100;
const rulesPerCall = 100;
const windowSeconds = 900;

await using stack = new AsyncDisposableStack();
const { dir, nats, postgresUrl, postgresPid } = await startEngines(stack, 1);
const sandbox = stack.use(
  await startSandbox({
    speed: pace,
    ruleDelayMs: 0,
    xApps: [...tokens, ...bareTokens].map((token) => ({ token, plan: 'enterprise', ruleCap: 25_000 })),
  }),
);
await migrate(postgresUrl);
const admin = stack.use(await openAdmin(postgresUrl));
await admin.setPlanLimits('paid', { rules: 1_000_000, requests: 1_000_000, changes: 1_000_000 });
const inFlightMax = Math.max(32, Math.ceil(callers / accounts) * 2);
const server = stack.use(
  await startServerProgram({
    env: {
      EARSHOT_DATABASE_URL: postgresUrl,
      EARSHOT_NATS_URL: nats.url,
      EARSHOT_X_TOKENS: tokens.map((token) => `${token}=${token}`).join(','),
      EARSHOT_X_BASE_URL: sandbox.url,
      ...(given.profile && { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${given.profile}` }),
      EARSHOT_ACCOUNT_SHARE_PERCENT: '100',
      EARSHOT_RULE_BUDGET: 'off',
      EARSHOT_TEST: `xRuleCapacity=25000,requestsInFlightMax=${inFlightMax},upstreamPace=${pace}`,
      EARSHOT_LOG_LEVEL: 'info',
    },
    logFile: join(dir, 'server.log'),
  }),
);
const keys: string[] = [];
for (let n = 0; n < accounts; n++) keys.push(await newKey());

async function newKey(): Promise<string> {
  const { accountId } = await admin.createAccount({ name: 'bench' });
  const created = await admin.createKey({ accountId });
  if (!created) throw new Error('the account is gone');
  return created.key;
}

const say = (line: string) => process.stdout.write(`${line}\n`);
const caller = stack.use(createRuleCaller(server.ready.address, Math.max(callers, knownCallers)));
const pids = { server: server.pid, postgres: postgresPid, 'client and sandbox': process.pid };

interface Measured {
  readonly seconds: number;
  readonly shares: string;
}

/** Each caller requests the next rule when it has its answer. */
async function measure(count: number, concurrent: number, valueOf: (n: number) => string): Promise<Measured> {
  const before = await cpuSeconds(pids);
  const startedAt = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: concurrent }, async () => {
      for (let n = next++; n < count; n = next++)
        await caller.create(keys[n % keys.length] ?? '', valueOf(n));
    }),
  );
  const seconds = (performance.now() - startedAt) / 1_000;
  return { seconds, shares: cpuShares(before, await cpuSeconds(pids)) };
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

const load = () => `load ${loadavg()[0]?.toFixed(1)} on ${availableParallelism()} processors`;

if (known > 0) {
  const knownValues = 40;
  await measure(knownValues, knownValues, (n) => `known${n}`);
  const { seconds, shares } = await measure(known, knownCallers, (n) => `known${n % knownValues}`);
  say(
    `already registered: ${known} creations in ${seconds.toFixed(1)} s, ${(known / seconds).toFixed(0)}/s, ${load()}`,
  );
  say(`  processor time: ${shares}`);
}

if (distinct > 0) {
  // Separate apps: these calls do not count towards the server's limits.
  const bareSeconds = await bareUpstreamSeconds(sandbox.url, bareTokens, distinct);
  const before = await callsMade();
  const callsPerApp = Math.ceil(distinct / tokens.length / rulesPerCall);
  const floorSeconds = ((Math.ceil(callsPerApp / callsPerWindow) - 1) * windowSeconds) / pace;
  const retries = caller.retries();
  const { seconds, shares } = await measure(distinct, callers, (n) => `distinct${n}`);
  const after = await callsMade();
  say(
    `distinct: ${distinct} creations by ${callers} callers on ${tokens.length} apps in ${seconds.toFixed(1)} s at pace ${pace}, ` +
      `${(distinct / seconds).toFixed(0)}/s, ${load()}`,
  );
  say(
    `  ${after.made - before.made} calls, ${after.refused - before.refused} refused by X, ` +
      `${caller.retries() - retries} times a caller had to retry`,
  );
  say(`  processor time: ${shares}`);
  say(
    `  the limits of X allow ${callsPerApp} calls of ${rulesPerCall} rules per app without a wait: at least ${floorSeconds.toFixed(1)} s`,
  );
  say(
    `  the upstream alone: ${bareSeconds.toFixed(2)} s; Earshot takes ${(seconds / bareSeconds).toFixed(1)} times as long`,
  );
}
