import { eventually, lengthOf } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Api } from './src/api.ts';
import { startWorld, tapToken, xToken } from './src/world.ts';

/*
 * Bob must not learn that Alice watches a value, nor since when, although both share one upstream rule.
 */

type WorldOptions = NonNullable<Parameters<typeof startWorld>[0]>;

async function openAccounts(env: Record<string, string> = {}, sandbox: WorldOptions['sandbox'] = {}) {
  const world = await startWorld({ sandbox });
  await world.admin.setPlanLimits('paid', { rules: 10_000 });
  const server = await world.startServer(env);
  return {
    world,
    asAlice: server.api(await world.newAccount('alice')),
    asBob: server.api(await world.newAccount('bob')),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

let accounts: Awaited<ReturnType<typeof openAccounts>>;
beforeAll(async () => {
  accounts = await openAccounts();
});
afterAll(() => accounts?.[Symbol.asyncDispose]());

const both = (value: string) => ({ x: value, firehose: `title:${value}` });

async function idsOf(api: Api, ruleId: string) {
  const { x, firehose } = (await api.getRule(ruleId)).platforms;
  return [x?.platform_rule_id, firehose?.platform_rule_id];
}

test.concurrent('the ids on the platforms are each rule’s own, of the usual form, and do not tell who stayed when it left', async () => {
  const { world, asAlice, asBob } = accounts;
  const alices = await asAlice.createRule(both('ash'));
  for (const value of ['ash', 'birch']) {
    const { rule_id } = await asBob.createRule(both(value));
    const ids = await idsOf(asBob, rule_id);
    expect(ids).toEqual([
      expect.stringMatching(/^[1-9][0-9]{18}$/),
      expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
    ]);
    await asBob.pauseRule(rule_id);
    await asBob.resumeRule(rule_id);
    expect(await idsOf(asBob, rule_id)).toEqual(ids);
    await asBob.updateRule(rule_id, { name: 'another name' });
    expect(await idsOf(asBob, rule_id)).toEqual(ids);
    await asBob.deleteRule(rule_id);
    const again = await idsOf(asBob, (await asBob.createRule(both(value))).rule_id);
    const upstream = [
      ...(await world.sandbox.xState(xToken)).rules,
      ...(await world.sandbox.firehoseState(tapToken)).rules,
    ].map(({ id }) => id);
    const shown = [...ids, ...again, ...(await idsOf(asAlice, alices.rule_id))];
    expect(new Set([...shown, ...upstream]).size).toBe(shown.length + upstream.length);
  }
});

test.concurrent('a rule on a value that others watch is active since its own registration, like one on a new value', async () => {
  const { asAlice, asBob } = accounts;
  await asAlice.createRule({ x: 'elm' });
  for (const value of ['fir', 'elm', 'hazel']) {
    const { rule_id } = await asBob.createRule({ x: value });
    const { created_at, platforms } = await asBob.getRule(rule_id);
    // Never at the very moment of the creation: the upstream takes its time.
    expect(Date.parse(platforms.x?.active_since ?? '')).toBeGreaterThan(Date.parse(created_at));
  }
});

/** What Bob sees of a request, but for its id. */
async function refusalOf(api: Api, values: { x?: string; firehose?: string }) {
  const startedAt = performance.now();
  const { status, text } = await api.call(
    'POST',
    '/api.CreateRule',
    { name: 'a rule', intent: 'to be refused', platforms: Object.keys(values), overrides: values },
    { 'x-request-id': 'the-same' },
  );
  return { seen: { status, text }, ms: performance.now() - startedAt };
}

test.concurrent('while the upstream is known not to answer, a value that others watch fails like a new one, and as late', async () => {
  await using others = await openAccounts();
  const { world, asAlice, asBob } = others;
  await asAlice.createRule({ x: 'ash' });
  await world.sandbox.arm({ kind: 'rules_status', platform: 'x', count: 1_000, status: 503 });
  const asked = refusalOf(asBob, { x: 'cedar' });
  await eventually(async () => expect((await world.sandbox.fired())[0]).toBeGreaterThan(0), {
    timeoutMs: 10_000,
  });
  const [fresh, known] = await Promise.all([asked, refusalOf(asBob, { x: 'ash' })]);
  expect(fresh.seen.status).toBe(503);
  expect(known.seen).toEqual(fresh.seen);
  expect(Math.abs(known.ms - fresh.ms)).toBeLessThan(1_000);
});

test.concurrent('when one platform refuses, the answer comes no sooner because the other value is watched by others', async () => {
  const { world, asAlice, asBob } = accounts;
  await asAlice.createRule({ firehose: 'title:oak' });
  await world.sandbox.arm({
    kind: 'rule_refused',
    platform: 'x',
    contains: 'cedar',
    count: 2,
    message: 'no',
  });
  const fresh = await refusalOf(asBob, { x: 'cedar', firehose: 'title:pine' });
  const known = await refusalOf(asBob, { x: 'cedar', firehose: 'title:oak' });
  expect(fresh.seen.status).toBe(400);
  expect(known.seen).toEqual(fresh.seen);
  // Far longer than a removal takes here, which only the new value needs.
  expect(Math.min(fresh.ms, known.ms)).toBeGreaterThan(1_000);
});

/** How likely a creation of `these` takes longer than one of `those`: 0.5 when nothing tells them apart. */
function likelihoodLonger(these: readonly number[], those: readonly number[]): number {
  let longer = 0;
  for (const one of these) for (const other of those) longer += one > other ? 1 : one === other ? 0.5 : 0;
  return longer / (these.length * those.length);
}

function spread(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(1);
  return `p10 ${at(0.1)}, p50 ${at(0.5)}, p90 ${at(0.9)}, p99 ${at(0.99)} ms`;
}

/** Chance alone makes a likelihood of 0.5 ± 0.04 of a hundred, and ± 0.013 of a thousand. */
const { creations, offMax } = lengthOf({
  always: { creations: 100, offMax: 0.15 },
  nightly: { creations: 1_000, offMax: 0.1 },
});

test.concurrent('a creation takes as long on a value that others watch as on a new one', async () => {
  await using others = await openAccounts(
    { EARSHOT_TEST: 'upstreamPace=1000,xRuleCapacity=10000' },
    { rateLimits: false, xApps: [{ token: xToken, ruleCap: 10_000 }] },
  );
  const { asAlice, asBob } = others;
  const numbers = Array.from({ length: creations }, (_, n) => n);
  for (let at = 0; at < creations; at += 20)
    await Promise.all(numbers.slice(at, at + 20).map((n) => asAlice.createRule({ x: `known${n}` })));
  const timeOf = async (value: string) => {
    const startedAt = performance.now();
    await asBob.createRule({ x: value });
    return performance.now() - startedAt;
  };
  const times: { known: number[]; fresh: number[] } = { known: [], fresh: [] };
  for (const n of numbers) {
    // In turns, so that a busy machine slows both alike; each is as often the first.
    const kinds = n % 2 ? (['known', 'fresh'] as const) : (['fresh', 'known'] as const);
    for (const kind of kinds) times[kind].push(await timeOf(`${kind}${n}`));
  }
  const likelihood = likelihoodLonger(times.fresh, times.known);
  console.log(
    `${creations} each; new values: ${spread(times.fresh)}; values of others: ${spread(times.known)}; ` +
      `a new one takes longer with a likelihood of ${likelihood.toFixed(3)}`,
  );
  expect(Math.abs(likelihood - 0.5)).toBeLessThan(offMax);
});
