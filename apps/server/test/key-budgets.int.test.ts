import type { Budget, OperationId, RequestOf } from '@earshot/contract';
import type { Template } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Call } from '../src/accounts/call.ts';
import { createKey, createKeyStore } from '../src/accounts/keys.ts';
import { defaultPrices } from '../src/billing/prices.ts';
import { createAssertAffordable } from '../src/budgets/assert-affordable.ts';
import { createCoverageStore } from '../src/coverage/coverage-store.sql.ts';
import { createSourceStore } from '../src/ingest/source-store.sql.ts';
import { createRule } from '../src/rules/create-rule.ts';
import { pauseRule } from '../src/rules/pause-rule.ts';
import { resumeRule } from '../src/rules/resume-rule.ts';
import { updateRule } from '../src/rules/update-rule.ts';
import type { ItemCounts } from '../src/upstream/platform.ts';
import { budgetOf, openBudgetWorld } from './budget-world.ts';
import { callOf } from './call-of.ts';
import { createLocalBells } from './local-bells.ts';
import { upstreamSettings } from './preview-world.ts';
import { createMigratedTemplate, silentTelemetry } from './support.ts';

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

const hourMs = 3_600_000;
const tomorrow = new Date(Date.now() + 24 * hourMs).toISOString();

/** X counts 240 posts a day, $3.60 with their authors, for a query with "broad", and none for others. */
const counts: ItemCounts = {
  sourceId: 'x:main',
  countabilityOf: (query) => ({
    countable: true,
    kind: 'counts_recent',
    query,
    share: 1,
    dropped: [],
    misses: [],
  }),
  async count({ query }, { fromMs }) {
    const first = Math.ceil(fromMs / hourMs) * hourMs;
    const perHour = query.includes('broad') ? 10 : 0;
    return { kind: 'counted', fromMs: first, counts: Array.from({ length: 168 }, () => perHour) };
  },
};

type Caller = ReturnType<Awaited<ReturnType<typeof openKeyWorld>>['by']>;

/** The operations on keys and rules, called with any key of one account. */
async function openKeyWorld(ruleBudget: Budget | null = null) {
  const world = await openBudgetWorld(template);
  const { database, store, registered } = world;
  await createSourceStore(database).announce([
    { id: 'x:main', platform: 'x', capacity: 1_000 },
    { id: 'firehose:main', platform: 'firehose', capacity: 1_000 },
  ]);
  await database.run(`update sources set state = 'live', live_until = now() + interval '1 hour'`);
  const prices = defaultPrices();
  const options = {
    database,
    store,
    keys: createKeyStore(database),
    tiers: {},
    contact: 'us',
    hasJudge: false,
    pricing: { prices, ruleBudget },
    bells: createLocalBells(),
    checkpoint: () => undefined,
    telemetry: silentTelemetry(),
    keepOldMs: 0,
    nowMs: Date.now,
    assertAffordable: createAssertAffordable({
      database,
      config: upstreamSettings,
      coverage: createCoverageStore(database),
      counts: { x: [counts] },
      nowMs: Date.now,
      prices,
      installationBudget: null,
      ruleBudget,
      answerWithinMs: 30_000,
    }),
  };
  const [create, update, resume] = [createRule(options), updateRule(options), resumeRule(options)];
  const [pause, createKeyAs] = [pauseRule(options), createKey(options)];
  const by = (keyId: string) => {
    const call = <Id extends OperationId>(id: Id, request: RequestOf<Id>): Call<Id> => {
      const base = callOf(id, request);
      return {
        ...base,
        principal: { ...base.principal, keyId },
        change: { ...base.change, actor: keyId },
      };
    };
    return {
      /** A key that this key creates. */
      async makeKey(request: RequestOf<'CreateKey'> = {}) {
        return by((await createKeyAs(call('CreateKey', request))).key_id);
      },
      async create(x: string, more: Partial<RequestOf<'CreateRule'>> = {}) {
        const request = { name: x, intent: 'i', platforms: ['x' as const], overrides: { x }, ...more };
        return (await registered(create(call('CreateRule', request)))).rule_id;
      },
      update: (ruleId: string, changes: Omit<RequestOf<'UpdateRule'>, 'rule_id'>) =>
        registered(update(call('UpdateRule', { rule_id: ruleId, ...changes }))),
      pause: (ruleId: string) => pause(call('PauseRule', { rule_id: ruleId })),
      resume: (ruleId: string) =>
        registered(resume(call('ResumeRule', { rule_id: ruleId, accept_estimate: true }))),
    };
  };
  await database.run(
    `insert into api_keys (id, account_id, display, hash, scopes) values ('key_owner', 'acc_1', 'owner', 'a', '{}')`,
  );
  return { ...world, by, owner: by('key_owner') };
}

describe('a key with a budget', () => {
  const increases: ReadonlyArray<Omit<RequestOf<'UpdateRule'>, 'rule_id'>> = [
    { overrides: { x: 'broad' } },
    { options: { firehose: { quality: false } } },
    { platforms: ['x'] },
    { budget: null },
    { budget: budgetOf('usd=1000/day') },
    { expires_at: null },
  ];
  const refused = {
    code: 'permission_denied',
    message: expect.stringMatching(/The key has a budget \(usd=1\/day\).*Create a new rule with this key/),
    details: { budget: { period: 'day', usd: 1, on_reached: 'pause' } },
  };

  test.each([
    ['itself', (key: Caller) => Promise.resolve(key)],
    ['a key that it has created', (key: Caller) => key.makeKey()],
  ])('cannot make rules of other keys cost more (%s)', async (_, callerOf) => {
    await using world = await openKeyWorld();
    const key = await callerOf(await world.owner.makeKey({ budget: budgetOf('usd=1/day') }));
    const onBoth = {
      platforms: ['x' as const, 'firehose' as const],
      overrides: { x: 'narrow', firehose: 'narrow' },
    };
    const limits = { budget: budgetOf('matches=5/day'), expires_at: tomorrow };
    const ruleId = await world.owner.create('narrow', { ...onBoth, ...limits });
    const other = await world.owner.makeKey({ budget: budgetOf('usd=9/day') });
    const ofOther = await other.create('of other', onBoth);
    for (const change of increases) {
      await expect(key.update(ruleId, change), `${JSON.stringify(change)} is refused`).rejects.toMatchObject(
        refused,
      );
      const accepted = { ...change, accept_estimate: true };
      await expect(
        key.update(ruleId, accepted),
        `${JSON.stringify(change)} is refused`,
      ).rejects.toMatchObject(refused);
      await expect(key.update(ofOther, change), `${JSON.stringify(change)} is refused`).rejects.toMatchObject(
        refused,
      );
    }
    await key.update(ruleId, { name: 'another name' });
    await key.pause(ruleId);
    await expect(key.resume(ruleId)).rejects.toMatchObject(refused);
    expect(await world.store.get('acc_1', ruleId)).toMatchObject({
      name: 'another name',
      state: 'paused',
      version: 2,
      expires_at: tomorrow,
      budget: { period: 'day', matches: 5 },
      platforms: { x: { value: 'narrow' }, firehose: { value: 'narrow' } },
    });
    await expect(key.update('rule_unknown', { budget: null })).rejects.toMatchObject({ code: 'not_found' });
  });

  test('changes its own rules and those of keys that it has created, and is changed by the owner', async () => {
    await using world = await openKeyWorld();
    const key = await world.owner.makeKey({ budget: budgetOf('usd=5/day') });
    const child = await key.makeKey();
    const [own, ofChild] = [await key.create('one'), await child.create('two')];
    for (const caller of [key, child, world.owner])
      for (const ruleId of [own, ofChild]) {
        await caller.update(ruleId, { overrides: { x: 'broad' }, budget: budgetOf('usd=4/day') });
        await caller.update(ruleId, { overrides: { x: 'narrow' }, budget: null });
        await caller.pause(ruleId);
        expect(await caller.resume(ruleId)).toMatchObject({ state: 'active' });
      }
  });

  test('gets no more matches than its budget, whatever it does with its rules', async () => {
    await using world = await openKeyWorld();
    const key = await world.owner.makeKey({ budget: budgetOf('matches=3/day') });
    const child = await key.makeKey();
    const check = world.watch();
    const ruleId = await key.create('cats', { accept_estimate: true });
    const paused = await child.create('dogs');
    await key.pause(paused);
    await world.match('cats', 3);
    await check();
    expect(await world.store.get('acc_1', ruleId)).toMatchObject({ state: 'paused' });
    const spent = {
      code: 'failed_precondition',
      message: expect.stringMatching(/the budget of the key \(matches=3\/day\) is spent\. Use another key/),
    };
    const trial = { minutes: 30, max_matches: 50 };
    for (const caller of [key, child]) {
      await expect(caller.create('dogs', { accept_estimate: true })).rejects.toMatchObject(spent);
      await expect(caller.create('dogs', { trial })).rejects.toMatchObject(spent);
      await expect(caller.resume(paused)).rejects.toMatchObject(spent);
      await expect(caller.resume(ruleId)).rejects.toMatchObject({ code: 'failed_precondition' });
      // A new query or a larger budget does not start the rule: the key's budget is spent.
      await caller.update(ruleId, { overrides: { x: 'dogs' }, budget: budgetOf('usd=99/day') });
      await world.registered(world.resume());
      expect(await world.store.get('acc_1', ruleId)).toMatchObject({ state: 'paused' });
    }
    // The rate has fallen, and the budget stays spent until tomorrow.
    await world.endBurst();
    await expect(key.create('dogs')).rejects.toMatchObject(spent);
    await world.match('dogs', 5);
    const { count } = (await world.database.one<{ count: number }>('select count(*) from matches')) ?? {};
    expect(count).toBe(3);
  });

  test('gives its budget to keys that it creates, and no other budget', async () => {
    await using world = await openKeyWorld();
    const key = await world.owner.makeKey({ budget: budgetOf('usd=1/day') });
    const child = await key.makeKey();
    for (const caller of [key, child])
      await expect(caller.makeKey({ budget: budgetOf('usd=1000/day') })).rejects.toMatchObject({
        code: 'invalid_argument',
        details: { violations: [{ field: 'budget' }] },
      });
    const keys = await createKeyStore(world.database).listKeys('acc_1', { before: null, limit: 100 });
    expect(keys.filter(({ budget }) => budget?.usd === 1)).toHaveLength(2);
    expect(keys.filter(({ budget }) => budget === null)).toHaveLength(1);
    expect(keys).toHaveLength(3);
  });
});

describe('UpdateRule refuses a change that the rule probably cannot pay for', () => {
  const refused = {
    code: 'failed_precondition',
    details: { estimate: { x: { basis: 'counts', usd_per_day: { max: 3.6 } } } },
  };

  test('a new query, which the caller may accept', async () => {
    await using world = await openKeyWorld();
    const ruleId = await world.owner.create('narrow', { budget: budgetOf('usd=1/day') });
    const change = { overrides: { x: 'broad' } };
    await expect(world.owner.update(ruleId, change)).rejects.toMatchObject(refused);
    expect(await world.store.get('acc_1', ruleId)).toMatchObject({ version: 1 });
    const both = { ...change, budget: budgetOf('usd=4/day') };
    expect(await world.owner.update(ruleId, both)).toMatchObject({ version: 2 });
    await world.owner.update(ruleId, { overrides: { x: 'narrow' }, budget: budgetOf('usd=1/day') });
    const accepted = { ...change, accept_estimate: true };
    expect(await world.owner.update(ruleId, accepted)).toMatchObject({
      platforms: { x: { value: 'broad' } },
    });
  });

  test('a larger budget or none, and never a smaller one', async () => {
    await using world = await openKeyWorld(budgetOf('usd=3/day'));
    const budget = budgetOf('usd=1/day');
    const ruleId = await world.owner.create('broad', { budget, accept_estimate: true });
    for (const larger of [budgetOf('usd=2/day'), budgetOf('matches=200/day'), null])
      await expect(world.owner.update(ruleId, { budget: larger })).rejects.toMatchObject(refused);
    for (const smaller of [budgetOf('usd=0.5/day'), budgetOf('usd=0.5/month')])
      await world.owner.update(ruleId, { budget: smaller });
    await world.owner.update(ruleId, { budget: budgetOf('usd=4/day') });
    await world.owner.update(ruleId, { name: 'still broad', expires_at: tomorrow });
  });

  test('a new query that its key cannot pay for', async () => {
    await using world = await openKeyWorld();
    const key = await world.owner.makeKey({ budget: budgetOf('usd=1/day') });
    const ruleId = await key.create('narrow');
    for (const caller of [key, world.owner])
      await expect(caller.update(ruleId, { overrides: { x: 'broad' } })).rejects.toMatchObject({
        ...refused,
        message: expect.stringContaining('the budget of the key (usd=1/day)'),
      });
  });
});
