import { setTimeout as sleep } from 'node:timers/promises';
import type { AnswerOf } from '@earshot/contract';
import { eventually, startTcpProxy } from '@earshot/testkit';
import { Client } from 'pg';
import { describe, expect, test } from 'vitest';
import type { Api } from './src/api.ts';
import { startWorld, type World, xToken } from './src/world.ts';

/** The promise: both ends of a gap are on the ledger to within this. */
const withinMs = 2_000;
const soon = { timeoutMs: 30_000, intervalMs: 100 };
/** Short in CI; `CUT_SECONDS=60` is what people run. */
const cutMs = Number(process.env['CUT_SECONDS'] ?? '5') * 1_000;

type Answer = AnswerOf<'GetCoverage'>;

async function coverageOf(api: Api, request: object): Promise<Answer> {
  const answer = await api.call('POST', '/api.GetCoverage', request);
  expect(answer.status, answer.text).toBe(200);
  return answer.json as Answer;
}

const isLive = async (api: Api, ruleId: string, sinceMs: number) => {
  const { complete_through } = await coverageOf(api, { rule_id: ruleId });
  return Date.parse(complete_through ?? '') > sinceMs;
};

/** What X itself says about the connections of the app, oldest first. */
async function connections(world: World): Promise<Array<{ from: number; to: number | null }>> {
  const answer = await fetch(`${world.sandbox.url}/2/connections?status=all&max_results=100`, {
    headers: { authorization: `Bearer ${xToken}` },
  });
  const { data = [] } = (await answer.json()) as {
    data?: Array<{ connected_at: string; disconnected_at?: string }>;
  };
  return data.toReversed().map(({ connected_at, disconnected_at }) => ({
    from: Date.parse(connected_at),
    to: disconnected_at === undefined ? null : Date.parse(disconnected_at),
  }));
}

/** How far the only gap of the answer is from the truth, at its worse end; Infinity without one gap. */
function deviationMs(
  gaps: ReadonlyArray<{ from: string; to: string | null }>,
  truth: { from: number; to: number },
) {
  const [gap, ...more] = gaps;
  if (gap?.to == null || more.length > 0) return Number.POSITIVE_INFINITY;
  return Math.max(Math.abs(Date.parse(gap.from) - truth.from), Math.abs(Date.parse(gap.to) - truth.to));
}

async function listening(world: World, env: Record<string, string>) {
  const account = await world.newAccount();
  const server = await world.startServer(env);
  const api = server.api(account);
  // Without any rule X has no stream: the first one brings it up.
  await api.createRule({ x: 'another' });
  const { rule_id: ruleId } = await api.createRule({ x: 'pulse' });
  const from = Date.now();
  await eventually(async () => expect(await isLive(api, ruleId, from + 1_000)).toBe(true), soon);
  return { account, server, api, ruleId };
}

/** The time between the last two connections, by the upstream's own record. */
async function trueGap(world: World): Promise<{ from: number; to: number }> {
  const [before, last] = (await connections(world)).slice(-2);
  if (before?.to == null || !last) throw new Error('there were no two connections');
  return { from: before.to, to: last.from };
}

describe('zero matches for a rule', () => {
  test('whose source was cut: the answer shows the gap to within 2 s at both ends', {
    timeout: 180_000,
  }, async () => {
    await using world = await startWorld();
    await using proxy = await startTcpProxy({ target: { port: Number(new URL(world.sandbox.url).port) } });
    const { api, ruleId } = await listening(world, { EARSHOT_X_BASE_URL: `http://${proxy.address}` });

    proxy.refuse(true);
    proxy.cut();
    const cutAt = Date.now();
    const [missed] = await world.sandbox.posts(['pulse that nobody hears']);
    expect(missed?.delivered).toBe(false);
    await eventually(async () => {
      const open = (await api.matches({ rule_id: ruleId })).coverage?.gaps;
      expect(open).toMatchObject([{ platform: 'x', to: null }]);
      expect(Math.abs(Date.parse(open?.[0]?.from ?? '') - cutAt)).toBeLessThan(withinMs);
    }, soon);
    await sleep(Math.max(0, cutAt + cutMs - Date.now()));
    proxy.refuse(false);
    const healedAt = Date.now();
    await eventually(async () => expect(await isLive(api, ruleId, healedAt + 500)).toBe(true), soon);

    const { matches, coverage } = await api.matches({ rule_id: ruleId });
    expect(matches).toEqual([]);
    const truth = await trueGap(world);
    expect(proxy.fired.cut).toBeGreaterThan(0);
    expect(truth.to - truth.from).toBeGreaterThanOrEqual(cutMs);
    expect(deviationMs(coverage?.gaps ?? [], truth)).toBeLessThan(withinMs);
    const { intervals } = await coverageOf(api, { rule_id: ruleId, platform: 'x' });
    expect(intervals.map(({ state }) => state)).toEqual(['not_watched', 'live', 'gap', 'live']);
    expect(
      deviationMs(
        intervals.filter(({ state }) => state === 'gap'),
        truth,
      ),
    ).toBeLessThan(withinMs);
  });

  test('whose server was killed: the gap begins at the last proven moment', async () => {
    await using world = await startWorld();
    const { gaps, deviation } = await killed(world);
    expect(gaps).toMatchObject([{ platform: 'x', reason: 'process_died' }]);
    expect(deviation).toBeLessThan(withinMs);
  });

  test('control: an interval that is closed "now" instead hides the gap', async () => {
    await using world = await startWorld();
    const { deviation } = await killed(world, closeNow);
    expect(deviation).toBeGreaterThan(withinMs);
  });
});

/** Takes the protection away: what a dead process left open ends when it is found. */
const closeNow = `
  create function close_now() returns trigger language plpgsql as $$
  begin new.proven_until := now(); return new; end $$;
  create trigger close_now before update of ended_because on coverage
    for each row when (new.ended_because = 'process_died') execute function close_now()`;

/** SIGKILL between two proofs, and four seconds of nobody listening. */
async function killed(world: World, sabotage?: string) {
  const { account, server, ruleId } = await listening(world, {});
  if (sabotage !== undefined) await runSql(world, sabotage);
  await sleep(700);
  const killedAt = Date.now();
  await server.kill();
  await sleep(4_000);
  const second = await world.startServer();
  const startedAt = Date.now();
  const api = second.api(account);
  await eventually(async () => expect(await isLive(api, ruleId, startedAt)).toBe(true), soon);
  const gaps = (await api.matches({ rule_id: ruleId })).coverage?.gaps ?? [];
  return { gaps, deviation: deviationMs(gaps, { from: killedAt, to: (await trueGap(world)).to }) };
}

async function runSql(world: World, sql: string): Promise<void> {
  const client = new Client({ connectionString: world.databaseUrl });
  await client.connect();
  await client.query(sql).finally(() => client.end());
}

test('a pause is not a gap: nobody watched', async () => {
  await using world = await startWorld();
  const { api, ruleId } = await listening(world, {});
  await api.pauseRule(ruleId);
  await sleep(1_200);
  const resumedAt = Date.now();
  await api.resumeRule(ruleId);
  await eventually(async () => expect(await isLive(api, ruleId, resumedAt + 500)).toBe(true), soon);
  const { intervals } = await coverageOf(api, { rule_id: ruleId });
  expect(intervals.map(({ state }) => state)).toEqual(['not_watched', 'live', 'not_watched', 'live']);
  expect((await api.matches({ rule_id: ruleId })).coverage?.gaps).toEqual([]);
});

test('what is heard but not matched yet is not called complete', async () => {
  await using world = await startWorld();
  const { account, server, ruleId } = await listening(world, {});
  await server.stop();
  const stoppedAt = Date.now();
  const deaf = await world.startServer({ EARSHOT_ROLES: 'api,ingest' });
  const api = deaf.api(account);
  const live = async () => (await coverageOf(api, { rule_id: ruleId })).intervals.at(-1);
  await eventually(async () => {
    expect(Date.parse((await live())?.to ?? '')).toBeGreaterThan(stoppedAt + 2_000);
  }, soon);
  await world.sandbox.posts(['pulse that waits in the log']);
  const { matches, coverage } = await api.matches({ rule_id: ruleId });
  expect(matches).toEqual([]);
  expect(Date.parse(coverage?.complete_through ?? '')).toBeLessThan(stoppedAt);
  await using _matching = await world.startServer({ EARSHOT_ROLES: 'match' });
  await eventually(async () => {
    expect(await isLive(api, ruleId, stoppedAt + 2_000)).toBe(true);
    expect((await api.matches({ rule_id: ruleId })).matches).toHaveLength(1);
  }, soon);
});
