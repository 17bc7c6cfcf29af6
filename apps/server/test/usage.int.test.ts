import type { RequestOf } from '@earshot/contract';
import { defaultXToken, startSandbox } from '@earshot/sandbox';
import type { Template } from '@earshot/testkit';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { showBill } from '../src/billing/bill-metrics.ts';
import { compareUsage } from '../src/billing/compare-usage.ts';
import { getUsage } from '../src/billing/get-usage.ts';
import { recordBill } from '../src/billing/meter.sql.ts';
import { defaultPrices } from '../src/billing/prices.ts';
import { readBillByAccount, readBillBySource } from '../src/billing/read-bill.ts';
import type { Database } from '../src/engines/database.ts';
import { createMetrics } from '../src/observability/metrics.ts';
import { createTelemetry, type Telemetry } from '../src/observability/telemetry.ts';
import { createAssertRule } from '../src/rules/refusals.ts';
import { createRuleStore } from '../src/rules/rule-store.sql.ts';
import { createUpstreamClient } from '../src/upstream/client.ts';
import type { ReadUsage } from '../src/upstream/platform.ts';
import { UpstreamUnavailable } from '../src/upstream/upstream-rules.ts';
import { createReadXUsage } from '../src/upstream/x/usage.ts';
import { callOf } from './call-of.ts';
import { createMigratedTemplate, openTestDatabase, seedRules, silentLog } from './support.ts';

let template: Template;
let stack: AsyncDisposableStack;
let database: Database;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  const clone = stack.use(await template.clone());
  database = stack.use(openTestDatabase(clone.url));
  await seedRules(database, 2);
  return () => stack.disposeAsync();
});

const prices = defaultPrices();
const nowMs = () => Date.parse('2026-11-14T22:46:00.000Z');

interface Used {
  readonly rule: string;
  readonly platform?: string;
  readonly day: string;
  readonly items: number;
  readonly users?: number;
  readonly referenced?: number;
  readonly account?: string;
}

async function use({ rule, platform = 'x', day, items, users = 0, referenced = 0, account = 'acc_1' }: Used) {
  await database.run(
    `insert into usage (account_id, rule_id, platform, day, matches, last_match_at, items, users, referenced_posts)
     values ($1, $2, $3, $4, ceil($5::float8), now(), $5::float8 * 1000000, $6::float8 * 1000000, $7::float8 * 1000000)`,
    [account, rule, platform, day, items, users, referenced],
  );
}

const ask = (request: RequestOf<'GetUsage'>, accountId = 'acc_1') =>
  getUsage({ database, assertRule: createAssertRule(createRuleStore(database)), prices, nowMs })(
    callOf('GetUsage', request, accountId),
  );

test('usage has its cost: items alone as the minimum, with all referenced items as the maximum', async () => {
  await use({ rule: 'rule_1', day: '2026-11-13', items: 10, users: 20, referenced: 4 });
  await use({ rule: 'rule_2', day: '2026-11-14', items: 0.5, users: 0.5 });
  await use({ rule: 'rule_2', platform: 'firehose', day: '2026-11-14', items: 3 });
  await use({ rule: 'rule_9', day: '2026-11-14', items: 1_000, account: 'acc_2' });
  const resources = { posts: 0, users: 0, referenced_posts: 0, pages: 0 };
  const total = {
    matches: 14,
    resources: { posts: 10.5, users: 20.5, referenced_posts: 4, pages: 3 },
    usd: { min: 0.0675, max: 0.2925 },
  };
  expect(await ask({})).toEqual({
    usage: [
      {
        platform: 'firehose',
        matches: 3,
        resources: { ...resources, pages: 3 },
        usd: { min: 0.015, max: 0.015 },
      },
      {
        platform: 'x',
        matches: 11,
        resources: { ...resources, posts: 10.5, users: 20.5, referenced_posts: 4 },
        usd: { min: 0.0525, max: 0.2775 },
      },
    ],
    total,
    prices_as_of: '2026-08-22',
  });
  const byDay = await ask({ by: 'day' });
  expect(byDay.usage.map(({ day, platform, matches }) => [day, platform, matches])).toEqual([
    ['2026-11-13', 'x', 10],
    ['2026-11-14', 'firehose', 3],
    ['2026-11-14', 'x', 1],
  ]);
  await database.run(`update rules set name = 'Outages' where id = 'rule_1'`);
  await database.run(`update rules set state = 'deleted' where id = 'rule_2'`);
  const byRule = await ask({ by: 'rule' });
  expect(byRule.usage.map(({ rule_id, rule_name, usd }) => [rule_id, rule_name, usd.max])).toEqual([
    ['rule_1', 'Outages', 0.27],
    ['rule_2', null, 0.015],
    ['rule_2', null, 0.0075],
  ]);
  expect([byDay.total, byRule.total]).toEqual([total, total]);
});

test('usage is of the requested days, including the first and the last, and of the rule and platform', async () => {
  for (const day of ['2026-10-15', '2026-10-16', '2026-11-14', '2026-11-15'])
    await use({ rule: 'rule_1', day, items: 1 });
  await use({ rule: 'rule_2', platform: 'firehose', day: '2026-11-14', items: 1 });
  const days = async (request: RequestOf<'GetUsage'>) =>
    (await ask({ by: 'day', ...request })).usage.map(({ day }) => day);
  expect(await days({})).toEqual(['2026-10-16', '2026-11-14', '2026-11-14']);
  expect(await days({ from: '2026-10-15T23:59:59Z', to: '2026-10-16T00:00:01Z' })).toEqual([
    '2026-10-15',
    '2026-10-16',
  ]);
  expect(await days({ platform: 'firehose' })).toEqual(['2026-11-14']);
  expect(await days({ rule_id: 'rule_1' })).toEqual(['2026-10-16', '2026-11-14']);
});

const today = new Date().toISOString().slice(0, 10);
const line = (kind: string, atLeast: number, atMost: number, sourceId = 'x:main') => ({
  sourceId,
  day: today,
  kind,
  atLeast,
  atMost,
});

test('an operator gets the bill by source and day, and divided among accounts, and metrics have its totals', async () => {
  const third = { accountId: 'acc_1', ruleId: 'rule_1' };
  const rest = { accountId: 'acc_2', ruleId: 'rule_7' };
  await recordBill(database, {
    usage: [line('post', 3, 4), line('user', 0, 6), line('page', 2, 2, 'firehose:main')],
    shares: [
      { ...line('post', 1_000_000, 1_500_000), ...third },
      { ...line('post', 2_000_000, 2_500_000), ...rest },
      { ...line('user', 0, 6_000_000), ...rest },
      { ...line('page', 2_000_000, 2_000_000, 'firehose:main'), accountId: '', ruleId: '' },
    ],
  });
  expect(await readBillBySource(database, 1, prices)).toMatchObject([
    { day: today, source_id: 'firehose:main', kind: 'page', usd: { min: 0.01, max: 0.01 } },
    {
      day: today,
      source_id: 'x:main',
      kind: 'post',
      at_least: 3,
      at_most: 4,
      usd: { min: 0.015, max: 0.02 },
    },
    { day: today, source_id: 'x:main', kind: 'user', at_least: 0, at_most: 6, usd: { min: 0, max: 0.06 } },
  ]);
  expect(await readBillByAccount(database, 1, prices)).toMatchObject([
    { account_id: '', platform: 'firehose', kind: 'page', at_least: 2 },
    { account_id: 'acc_1', platform: 'x', kind: 'post', at_least: 1, at_most: 1.5 },
    { account_id: 'acc_2', platform: 'x', kind: 'post', at_least: 2, at_most: 2.5 },
    { account_id: 'acc_2', platform: 'x', kind: 'user', at_most: 6, usd: { min: 0, max: 0.06 } },
  ]);
  const metrics = createMetrics();
  await showBill({ database, metrics, prices });
  const text = await metrics.registry.metrics();
  expect(text).toContain('earshot_billed_total{source="x:main",kind="post",reading="max"} 4');
  expect(text).toContain('earshot_cost_usd_total{source="x:main",reading="min"} 0.015');
  expect(text).toContain('earshot_cost_usd_total{source="x:main",reading="max"} 0.08');
});

/** The log calls, in order. */
function listening(): { said: string[]; telemetry: Telemetry } {
  const said: string[] = [];
  const telemetry = {
    ...createTelemetry(silentLog, createMetrics()),
    usageCompared: ({ day, reported, atLeast, atMost }: Parameters<Telemetry['usageCompared']>[0]) =>
      void said.push(`${day}: ${reported} beside ${atLeast}–${atMost}`),
    usageNotReported: () => void said.push('not reported'),
    usageCheckPostponed: () => void said.push('put off'),
  };
  return { said, telemetry };
}

test("the upstream's own count is compared with ours once a day, some hours after the end of the day", async () => {
  await database.run(
    `insert into source_usage (source_id, day, kind, at_least, at_most) values
       ('x:main', '2026-11-13', 'post', 10, 12), ('x:main', '2026-11-13', 'user', 0, 7), ('x:other', '2026-11-13', 'post', 5, 5)`,
  );
  const { said, telemetry } = listening();
  let requests = 0;
  const readUsage: ReadUsage = async () => {
    if (++requests === 1) throw new UpstreamUnavailable('X answered 503');
    return new Map([['2026-11-13', 13]]);
  };
  const compareAt = (time: string) =>
    compareUsage(
      { database, sourceId: 'x:main', platform: 'x', readUsage, telemetry, nowMs: () => Date.parse(time) },
      new AbortController().signal,
    );
  await compareAt('2026-11-14T07:00:00Z');
  await compareAt('2026-11-14T08:00:00Z');
  await compareAt('2026-11-15T05:00:00Z');
  expect(requests).toBe(2);
  expect(said).toEqual(['put off', '2026-11-13: 13 beside 10–12']);
  const metrics = createMetrics();
  await showBill({ database, metrics, prices });
  const text = await metrics.registry.metrics();
  expect(text).toContain('earshot_usage_difference{source="x:main",reading="min"} 3');
  expect(text).toContain('earshot_usage_difference{source="x:main",reading="max"} 1');
  // A day that the upstream does not list yet is requested again.
  await compareAt('2026-11-15T07:00:00Z');
  await compareAt('2026-11-15T08:00:00Z');
  expect(requests).toBe(4);
  expect(said).toHaveLength(2);
});

test('an app without access to its usage is logged once', async () => {
  const { said, telemetry } = listening();
  for (const day of [14, 15, 16]) {
    await compareUsage(
      {
        database,
        sourceId: 'x:main',
        platform: 'x',
        readUsage: async () => null,
        telemetry,
        nowMs: () => Date.parse(`2026-11-${day}T12:00:00Z`),
      },
      new AbortController().signal,
    );
  }
  expect(said).toEqual(['not reported']);
});

test("X's own count is read by UTC day; an app without access gets none", async () => {
  const { url } = stack.use(await startSandbox({ rateLimits: false }));
  const client = stack.use(createUpstreamClient({ baseUrl: url, token: defaultXToken, name: 'X' }));
  const control = async (path: string, body: object) => {
    const answer = await fetch(new URL(path, url), { method: 'POST', body: JSON.stringify(body) });
    expect(answer.status).toBe(200);
  };
  const readUsage = createReadXUsage(client);
  const { signal } = new AbortController();
  const read = () => readUsage(signal);
  const search = () => client.call('GET', '/2/tweets/search/recent?query=aurora', { signal });
  vi.useFakeTimers({ toFake: ['Date'] });
  stack.defer(() => void vi.useRealTimers());
  vi.setSystemTime('2026-11-13T23:58:00Z');
  await control('/sandbox/x/posts', { posts: [{ text: 'an aurora' }, { text: 'aurora again' }] });
  vi.setSystemTime('2026-11-13T23:59:00Z');
  await search();
  vi.setSystemTime('2026-11-14T00:00:30Z');
  await control('/sandbox/x/posts', { posts: [{ text: 'one more aurora' }] });
  vi.setSystemTime('2026-11-14T00:01:00Z');
  await search();
  await search();
  expect(await read()).toEqual(
    new Map([
      ['2026-11-12', 0],
      ['2026-11-13', 2],
      ['2026-11-14', 3],
    ]),
  );
  await control('/sandbox/x/knobs', { usage: 'not_enrolled' });
  expect(await read()).toBeNull();
  const unknown = stack.use(createUpstreamClient({ baseUrl: url, token: 'unknown', name: 'X' }));
  await expect(createReadXUsage(unknown)(signal)).rejects.toThrow(/^X answered 401 about its usage/);
});
