import { setTimeout as sleep } from 'node:timers/promises';
import { type AnswerOf, operations } from '@earshot/contract';
import { eventually, lengthOf, startTcpProxy, testNightly } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Api } from './src/api.ts';
import { askDatabase } from './src/ledger.ts';
import { type ServerUnderTest, startWorld, type World, xToken } from './src/world.ts';

/** The promised accuracy of both ends of a gap in the ledger. */
const withinMs = 2_000;
const soon = { timeoutMs: 90_000, intervalMs: 100 };
const cutMs = lengthOf({ always: 5_000, nightly: 60_000 });

type Answer = AnswerOf<'GetCoverage'>;

async function coverageOf(api: Api, request: object): Promise<Answer> {
  const answer = await api.call('POST', '/api.GetCoverage', request);
  return operations.GetCoverage.answer.parse(answer.json);
}

const isLive = async (api: Api, ruleId: string, sinceMs: number) => {
  const { complete_through } = await coverageOf(api, { rule_id: ruleId });
  return Date.parse(complete_through ?? '') > sinceMs;
};

/** The connections of the app in X's own record, oldest first. */
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

/** The earliest and latest time of an event, as observed from outside. On a busy machine they are further apart. */
interface Span {
  readonly earliest: number;
  readonly latest: number;
}

const distanceMs = (at: string, { earliest, latest }: Span) =>
  Math.max(0, earliest - Date.parse(at), Date.parse(at) - latest);

/** The distance between the only gap of the answer and the truth, at its worse end; Infinity without exactly one gap. */
function deviationMs(
  gaps: ReadonlyArray<{ from: string; to: string | null }>,
  truth: { from: Span; to: Span },
) {
  const [gap, ...more] = gaps;
  if (gap?.to == null || more.length > 0) return Number.POSITIVE_INFINITY;
  return Math.max(distanceMs(gap.from, truth.from), distanceMs(gap.to, truth.to));
}

/** The last moment for which the ledger proves that the source was connected. */
async function receivedUntil(): Promise<number> {
  const { rows } = await askDatabase(
    world,
    `select extract(epoch from coalesce(received_until, proven_until))::float8 * 1000 as at
     from coverage where source_id = 'x:main' order by from_at desc limit 1`,
  );
  return Number(rows[0]?.at);
}

/** A new account with a live rule. */
async function listening(world: World, server: ServerUnderTest, value = 'pulse') {
  const account = await world.newAccount();
  const api = server.api(account);
  // Without any rule X has no stream: the first rule opens it.
  await api.createRule({ x: 'another' });
  const { rule_id: ruleId } = await api.createRule({ x: value });
  const from = Date.now();
  await eventually(async () => expect(await isLive(api, ruleId, from + 1_000)).toBe(true), soon);
  return { account, api, ruleId };
}

/** The time between the last two connections, in the upstream's own record. */
async function trueGap(world: World): Promise<{ from: number; to: number }> {
  const [before, last] = (await connections(world)).slice(-2);
  if (before?.to == null || !last) throw new Error('there were no two connections');
  return { from: before.to, to: last.from };
}

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.[Symbol.asyncDispose]());

test('after a cut, an answer without matches shows the gap, accurate to 2 s at both ends, and no gap for a paused rule', async () => {
  await using proxy = await startTcpProxy({ target: { port: Number(new URL(world.sandbox.url).port) } });
  await using server = await world.startServer({ EARSHOT_X_BASE_URL: `http://${proxy.address}` });
  const { api, ruleId } = await listening(world, server);

  proxy.refuse(true);
  proxy.cut();
  const cutAt = Date.now();
  const [missed] = await world.sandbox.posts(['pulse in the gap']);
  expect(missed?.delivered).toBe(false);
  await eventually(async () => {
    const open = (await api.matches({ rule_id: ruleId })).coverage?.gaps;
    expect(open).toMatchObject([{ platform: 'x', to: null }]);
    const sinceCut = { earliest: cutAt, latest: Date.now() };
    expect(distanceMs(open?.[0]?.from ?? '', sinceCut)).toBeLessThan(withinMs);
  }, soon);
  const openSeenAt = Date.now();
  // Counted from here: the sandbox notices the cut later than it was made.
  await sleep(cutMs);
  proxy.refuse(false);
  const healedAt = Date.now();
  await eventually(async () => expect(await isLive(api, ruleId, healedAt + 500)).toBe(true), soon);
  const liveSeenAt = Date.now();

  const { matches, coverage } = await api.matches({ rule_id: ruleId });
  expect(matches).toEqual([]);
  const upstream = await trueGap(world);
  expect(proxy.fired.cut).toBeGreaterThan(0);
  expect(upstream.to - upstream.from).toBeGreaterThanOrEqual(cutMs);
  const truth = {
    from: { earliest: upstream.from, latest: openSeenAt },
    to: { earliest: upstream.to, latest: liveSeenAt },
  };
  expect(deviationMs(coverage?.gaps ?? [], truth)).toBeLessThan(withinMs);

  await api.pauseRule(ruleId);
  await sleep(1_200);
  const resumedAt = Date.now();
  await api.resumeRule(ruleId);
  await eventually(async () => expect(await isLive(api, ruleId, resumedAt + 500)).toBe(true), soon);
  const { intervals } = await coverageOf(api, { rule_id: ruleId, platform: 'x' });
  expect(intervals.map(({ state }) => state)).toEqual([
    'not_watched',
    'live',
    'gap',
    'live',
    'not_watched',
    'live',
  ]);
  const gap = intervals.filter(({ state }) => state === 'gap');
  expect(deviationMs(gap, truth)).toBeLessThan(withinMs);
});

/** SIGKILL between two proofs of an active stream, then four seconds without a listener. */
async function killed(sabotage?: string) {
  const server = await world.startServer();
  const { account, ruleId } = await listening(world, server);
  if (sabotage !== undefined) await askDatabase(world, sabotage);
  for (let count = 0; count < 8; count++) {
    await world.sandbox.posts(['pulse']);
    await sleep(200);
  }
  const receivedAt = await receivedUntil();
  const killedAt = Date.now();
  await server.kill();
  await sleep(4_000);
  await using second = await world.startServer();
  const startedAt = Date.now();
  const api = second.api(account);
  await eventually(async () => expect(await isLive(api, ruleId, startedAt)).toBe(true), soon);
  const liveSeenAt = Date.now();
  const gaps = (await api.matches({ rule_id: ruleId })).coverage?.gaps ?? [];
  const truth = {
    from: { earliest: receivedAt, latest: killedAt },
    to: { earliest: (await trueGap(world)).to, latest: liveSeenAt },
  };
  return { gaps, deviation: deviationMs(gaps, truth) };
}

test('after SIGKILL of the server, the gap begins at the last proven moment', async () => {
  const { gaps, deviation } = await killed();
  expect(gaps).toMatchObject([{ platform: 'x', reason: 'process_died' }]);
  expect(deviation).toBeLessThan(withinMs);
});

testNightly(
  'control: an interval that is closed at the current time instead hides that gap',
  {},
  async () => {
    const { deviation } = await killed(`
    create function close_now() returns trigger language plpgsql as $$
    begin new.proven_until := now(); return new; end $$;
    create trigger close_now before update of ended_because on coverage
      for each row when (new.ended_because = 'process_died') execute function close_now()`);
    expect(deviation).toBeGreaterThan(withinMs);
  },
);

test('received but unmatched events are not reported as complete', async () => {
  const server = await world.startServer();
  // Its own query: a search may still fill gaps of the other one from earlier tests.
  const { account, ruleId } = await listening(world, server, 'quasar');
  await server.stop();
  const stoppedAt = Date.now();
  await using listener = await world.startServer({ EARSHOT_ROLES: 'api,ingest' });
  const api = listener.api(account);
  await eventually(async () => {
    const last = (await coverageOf(api, { rule_id: ruleId })).intervals.at(-1);
    expect(Date.parse(last?.to ?? '')).toBeGreaterThan(stoppedAt + 1_000);
  }, soon);
  await world.sandbox.posts(['a quasar that waits in the log']);
  const { matches, coverage } = await api.matches({ rule_id: ruleId });
  expect(matches).toEqual([]);
  expect(Date.parse(coverage?.complete_through ?? '')).toBeLessThan(stoppedAt);
  await using _matching = await world.startServer({ EARSHOT_ROLES: 'match' });
  await eventually(async () => {
    expect(await isLive(api, ruleId, stoppedAt + 1_000)).toBe(true);
    expect((await api.matches({ rule_id: ruleId })).matches).toHaveLength(1);
  }, soon);
});
