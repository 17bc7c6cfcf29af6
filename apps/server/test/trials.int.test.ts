import type { Budget, Estimate, RequestOf } from '@earshot/contract';
import type { Template } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defaultPrices, defaultPricing } from '../src/billing/prices.ts';
import { createAssertAffordable } from '../src/budgets/assert-affordable.ts';
import { createCoverageStore } from '../src/coverage/coverage-store.sql.ts';
import { previewRule } from '../src/estimates/preview-rule.ts';
import { createSourceStore } from '../src/ingest/source-store.sql.ts';
import { createParsedRules } from '../src/language/explain-match.ts';
import { createRule } from '../src/rules/create-rule.ts';
import { createRuleExpiry } from '../src/rules/expiry.ts';
import { resumeRule } from '../src/rules/resume-rule.ts';
import { updateRule } from '../src/rules/update-rule.ts';
import type { ItemCounts } from '../src/upstream/platform.ts';
import { openBudgetWorld } from './budget-world.ts';
import { callOf } from './call-of.ts';
import { changeBy } from './changes.ts';
import { createLocalBells } from './local-bells.ts';
import { upstreamSettings } from './preview-world.ts';
import { createMigratedTemplate, silentTelemetry } from './support.ts';

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

const trial = { minutes: 30, max_matches: 50 };
const perDay = (matches: number): Budget => ({ period: 'day', matches, on_reached: 'pause' });

type World = Awaited<ReturnType<typeof openTrialWorld>>;
type Counts = Parameters<typeof createAssertAffordable>[0]['counts'];
interface PreviewOptions {
  readonly accountId?: string;
  readonly days?: number;
}

/** The operations on rules, with a registrar that answers at once and streams that have been live for two days. */
async function openTrialWorld({ xDelayMs = 0, counts = {} }: { xDelayMs?: number; counts?: Counts } = {}) {
  const world = await openBudgetWorld(template);
  const { database, store, registered } = world;
  await createSourceStore(database).announce([
    { id: 'x:main', platform: 'x', capacity: 1_000, ruleDelayMs: xDelayMs },
    { id: 'firehose:main', platform: 'firehose', capacity: 1_000 },
  ]);
  await database.run(`update sources set live_until = now() + interval '1 hour'`);
  await database.run(
    `insert into coverage (source_id, from_at, proven_until)
     select id, now() - interval '2 days', now() + interval '1 hour' from sources`,
  );
  const estimating = {
    database,
    config: { ...upstreamSettings, retentionDays: 30 },
    coverage: createCoverageStore(database),
    counts,
    prices: defaultPrices(),
    installationBudget: null,
    nowMs: Date.now,
  };
  const options = {
    ...estimating,
    store,
    pricing: defaultPricing(),
    rules: store,
    tiers: {},
    contact: 'us',
    hasJudge: false,
    bells: createLocalBells(),
    checkpoint: () => undefined,
    telemetry: silentTelemetry(),
    parsedRules: createParsedRules(),
    keepOldMs: 0,
    assertAffordable: createAssertAffordable({ ...estimating, ruleBudget: null }),
  };
  const [create, update, resume, preview] = [
    createRule(options),
    updateRule(options),
    resumeRule(options),
    previewRule(options),
  ];
  return {
    ...world,
    async create(changes: Partial<RequestOf<'CreateRule'>> = {}, accountId = 'acc_1') {
      const request = {
        name: 'n',
        intent: 'i',
        platforms: ['x' as const],
        overrides: { x: 'cats' },
        ...changes,
      };
      return (await registered(create(callOf('CreateRule', request, accountId)))).rule_id;
    },
    update: (ruleId: string, changes: Partial<RequestOf<'UpdateRule'>>) =>
      registered(update(callOf('UpdateRule', { rule_id: ruleId, ...changes }))),
    resumeRule: (ruleId: string) => registered(resume(callOf('ResumeRule', { rule_id: ruleId }))),
    async estimate(
      draft: Partial<RequestOf<'PreviewRule'>> = {},
      { accountId = 'acc_1', days = 7 }: PreviewOptions = {},
    ): Promise<Estimate | undefined> {
      const request = { platforms: ['x' as const], overrides: { x: 'cats' }, days, ...draft };
      const { platforms } = await preview(callOf('PreviewRule', request, accountId));
      return Object.values(platforms)[0]?.estimate;
    },
    /** Makes the rule listen for so long, until it was paused or up to now. */
    async listenedFor(ruleId: string, minutes: number) {
      await database.run(
        `update watches set from_at = coalesce(to_at, now()) - $2 * interval '1 minute' where rule_id = $1`,
        [ruleId, minutes],
      );
      // The platform got the rule with this trial if it applies rules late, else long before.
      await database.run(
        `update slot_services set from_at = watches.from_at - case when $2 then interval '0' else interval '2 days' end
         from watches where watches.slot_id = slot_services.slot_id and watches.rule_id = $1`,
        [ruleId, xDelayMs > 0],
      );
    },
    async expire() {
      await database.run('update rules set expires_at = now() where trial');
      await createRuleExpiry(database).pauseExpired();
    },
  };
}

/** A trial that has ended by its time. */
async function endedTrial(world: World, { matches = 12, minutes = 30 } = {}, accountId = 'acc_1') {
  const ruleId = await world.create({ trial }, accountId);
  if (matches > 0) await world.match('cats', matches);
  await world.expire();
  await world.listenedFor(ruleId, minutes);
  return ruleId;
}

const ofTrial = (average: number, note: string) => ({
  matches_per_day: { average, busiest: null, days: 0 },
  busiest_hour: null,
  basis: 'trial',
  bound: null,
  basis_note: `${note}, if the time of day makes no difference.`,
  fee_usd: 0,
});
const twelve = ofTrial(576, '12 matches in 30 minutes of a trial; about ±57%');

test('a trial is a rule with an end by time and one by matches, and its cost is not checked', async () => {
  await using world = await openTrialWorld();
  await endedTrial(world);
  await world.database.run(
    `update accounts set budget = '{"period":"day","matches":100,"on_reached":"pause"}' where id = 'acc_1'`,
  );
  await expect(world.create()).rejects.toMatchObject({
    code: 'failed_precondition',
    details: { estimate: { x: { basis: 'trial', matches_per_day: { average: 576 } } } },
  });
  const before = Date.now();
  const ruleId = await world.create({ trial });
  const rule = await world.store.get('acc_1', ruleId);
  expect(rule).toMatchObject({
    state: 'active',
    budget: { period: 'lifetime', matches: 50, on_reached: 'pause' },
    effective_budget: { matches: 50, spent: 0, resets_at: null },
  });
  const ends = Date.parse(rule?.expires_at ?? '') - 30 * 60_000;
  expect(ends).toBeGreaterThanOrEqual(before);
  expect(ends).toBeLessThanOrEqual(Date.now());
});

describe('after a trial that ended', () => {
  const advice = 'set another budget and another end (or none), and resume it';

  test('by its time, the rule continues with another budget, unless that is too small for its rate', async () => {
    await using world = await openTrialWorld();
    const ruleId = await endedTrial(world);
    const [notice, ...others] = await world.notices();
    expect(others).toEqual([]);
    expect(notice).toMatchObject({ type: 'rule.expired', data: { trial: true }, resolved_at: null });
    expect(notice?.what_to_do).toMatch('The time of the trial is over. ');
    expect(notice?.what_to_do).toContain(advice);
    await expect(world.resumeRule(ruleId)).rejects.toMatchObject({ code: 'failed_precondition' });

    const tooSmall = { budget: perDay(100), expires_at: null };
    const refused = { code: 'failed_precondition', details: { estimate: { x: { basis: 'trial' } } } };
    await expect(world.update(ruleId, tooSmall)).rejects.toMatchObject(refused);
    await world.update(ruleId, { ...tooSmall, accept_estimate: true });
    await expect(world.resumeRule(ruleId)).rejects.toMatchObject(refused);
    await world.update(ruleId, { budget: perDay(1_000) });
    expect(await world.resumeRule(ruleId)).toMatchObject({ state: 'active', expires_at: null });
    await world.match('cats', 60);
    expect(await world.matchesOf(ruleId)).toBe(72);
    expect((await world.notices()).map(({ resolved_at }) => resolved_at)).not.toContain(null);
  });

  test('by its matches, the same; what ends the rule later is no trial', async () => {
    await using world = await openTrialWorld();
    const ruleId = await world.create({ trial });
    await world.match('cats', 50);
    const check = world.watch();
    await check();
    await world.listenedFor(ruleId, 30);
    expect(await world.store.get('acc_1', ruleId)).toMatchObject({
      state: 'paused',
      pause: { reason: 'budget', resumes_at: null },
    });
    const reached = async () => (await world.notices()).filter(({ type }) => type === 'budget.reached');
    const [notice] = await reached();
    expect(notice).toMatchObject({ data: { trial: true, spent: 50, budget: 'matches=50/lifetime' } });
    expect(notice?.what_to_do).toMatch('The trial got 50 matches and is over. ');
    expect(notice?.what_to_do).toContain(advice);
    expect(await world.estimate()).toMatchObject(
      ofTrial(2_400, '50 matches in 30 minutes of a trial; about ±28%'),
    );
    await expect(world.resumeRule(ruleId)).rejects.toMatchObject({ code: 'failed_precondition' });

    await world.update(ruleId, { budget: perDay(3_000), expires_at: null });
    expect(await world.resumeRule(ruleId)).toMatchObject({ state: 'active', pause: null });
    await world.match('cats', 1);
    expect(await world.matchesOf(ruleId)).toBe(51);
    await check();
    expect((await reached()).map(({ resolved_at }) => resolved_at)).not.toContain(null);

    await world.update(ruleId, { budget: { period: 'lifetime', matches: 51, on_reached: 'pause' } });
    await check();
    const later = (await reached()).find(({ resolved_at }) => resolved_at === null);
    expect(later?.data).not.toHaveProperty('trial');
    expect(later?.what_to_do).toMatch('The budget is spent: 51 of 51 matches in total. ');
  });

  test('the estimate stays that of the trial, whatever the rule matches later', async () => {
    await using world = await openTrialWorld();
    const ruleId = await endedTrial(world);
    await world.update(ruleId, { budget: null, expires_at: null, overrides: { x: 'dogs' } });
    await world.resumeRule(ruleId);
    await world.match('dogs', 100);
    expect(await world.estimate()).toMatchObject(twelve);
    expect((await world.estimate({ overrides: { x: 'dogs' } }))?.basis).not.toBe('trial');
  });
});

describe('a preview with a trial', () => {
  test('that has ended: the newest of a rule that is not deleted, of the requested days', async () => {
    await using world = await openTrialWorld();
    const first = await endedTrial(world, { matches: 30 });
    await world.database.run(
      `update watches set from_at = from_at - interval '26 hours', to_at = to_at - interval '26 hours'`,
    );
    await world.database.run(`update matches set created_at = created_at - interval '26 hours'`);
    await world.pass(26 * 3_600_000);
    const older = ofTrial(1_440, '30 matches in 30 minutes of a trial; about ±36%');
    expect(await world.estimate()).toMatchObject(older);
    expect((await world.estimate({}, { days: 1 }))?.basis).not.toBe('trial');
    const second = await endedTrial(world);
    expect(await world.estimate()).toMatchObject(twelve);
    expect((await world.store.get('acc_1', first))?.state).toBe('paused');
    await world.store.delete(changeBy('acc_1'), second);
    expect(await world.estimate()).toMatchObject(older);
  });

  test('only if neither counts nor a history are known', async () => {
    const countable = { countable: true, kind: 'counts_recent', share: 1, dropped: [], misses: [] } as const;
    const counts = Array.from({ length: 168 }, () => 10);
    const ten: ItemCounts = {
      sourceId: 'x:main',
      countabilityOf: (query) => ({ ...countable, query }),
      count: async (_query, { fromMs }) => ({ kind: 'counted', fromMs, counts }),
    };
    await using world = await openTrialWorld({ counts: { x: [ten] } });
    await endedTrial(world);
    await world.database.run(`update sources set state = 'action_required', live_until = now()`);
    expect(await world.estimate()).toMatchObject(twelve);
    await world.database.run(`update sources set state = 'live', live_until = now() + interval '1 hour'`);
    expect(await world.estimate()).toMatchObject({ basis: 'counts', matches_per_day: { average: 240 } });
    await world.listenedFor(await world.create(), 25 * 60);
    expect((await world.estimate())?.basis).toBe('history');
  });

  test('without matches is an upper bound, which refuses nothing', async () => {
    await using world = await openTrialWorld();
    await endedTrial(world, { matches: 0 });
    expect(await world.estimate()).toMatchObject({
      matches_per_day: { average: 144, busiest: null },
      basis: 'trial',
      bound: 'at_most',
      basis_note:
        'No match in 30 minutes of a trial; at most about 144 a day, if the time of day makes no difference.',
    });
    expect(await world.create({ budget: perDay(5) })).toMatch('rule_');
  });

  test('that still runs: from ten matches or ten minutes on; until then an older one counts', async () => {
    await using world = await openTrialWorld();
    const basis = async () => (await world.estimate())?.basis_note;
    const ruleId = await world.create({ trial });
    await world.match('cats', 9);
    await world.listenedFor(ruleId, 5);
    expect((await world.estimate())?.basis).not.toBe('trial');
    await world.match('cats', 1);
    expect(await basis()).toMatch('10 matches in the first 5 minutes of a trial');

    const quiet = await world.create({ trial, overrides: { x: 'cats' } });
    await world.listenedFor(quiet, 4);
    expect(await basis()).toMatch('10 matches in the first 5 minutes of a trial');
    await world.listenedFor(ruleId, 20);
    await world.listenedFor(quiet, 10);
    expect(await basis()).toMatch('No match in the first 10 minutes of a trial');
  });

  test('counts only the time in which Earshot was connected', async () => {
    await using world = await openTrialWorld();
    await endedTrial(world);
    await world.database.run(
      `update coverage set proven_until = now() - interval '15 minutes', ended_because = 'stalled'`,
    );
    expect((await world.estimate())?.basis_note).toMatch('12 matches in 15 minutes of a trial');
    await world.database.run(`update coverage set proven_until = now() - interval '1 day'`);
    expect((await world.estimate())?.basis).not.toBe('trial');
  });

  test('counts the time before the platform surely applies the rule from the first match on', async () => {
    await using world = await openTrialWorld({ xDelayMs: 20 * 60_000 });
    await endedTrial(world, { matches: 0 });
    expect((await world.estimate())?.basis_note).toMatch('No match in 10 minutes');
    await endedTrial(world, { minutes: 16 });
    expect((await world.estimate())?.basis).toBe('trial');
    await world.database.run(
      `update matches set created_at = (select max(to_at) from watches) - interval '5 minutes'`,
    );
    await world.pass(300_000);
    expect((await world.estimate())?.basis_note).toMatch('12 matches in 5 minutes of a trial');
  });

  test('ignores trials of another query or with other options, and rules that are no trials', async () => {
    await using world = await openTrialWorld();
    const draft = { platforms: ['firehose' as const], overrides: { firehose: 'title:cats' } };
    const ruleId = await world.create({ ...draft, trial });
    await world.expire();
    await world.listenedFor(ruleId, 30);
    const basisOf = async (changes: Partial<RequestOf<'PreviewRule'>>) =>
      (await world.estimate({ ...draft, ...changes }))?.basis;
    expect(await basisOf({})).toBe('trial');
    expect(await basisOf({ options: { firehose: { quality: false } } })).toBe('unknown');
    expect(await basisOf({ overrides: { firehose: 'title:dogs' } })).toBe('unknown');

    const plain = await world.create({ overrides: { x: 'dogs' } });
    await world.listenedFor(plain, 30);
    expect((await world.estimate({ overrides: { x: 'dogs' } }))?.basis).toBe('unknown');
  });
});

describe('another account', () => {
  test('never uses the trial', async () => {
    await using world = await openTrialWorld();
    const before = await world.estimate();
    await endedTrial(world, {}, 'acc_2');
    expect(await world.estimate()).toEqual(before);
    expect(await world.estimate({}, { accountId: 'acc_2' })).toMatchObject(twelve);
    await endedTrial(world, { matches: 3 });
    expect((await world.estimate())?.basis_note).toMatch('3 matches in 30 minutes');
  });

  test('with a rule of the same query changes nothing: not while the trial runs, nor when it is paused and resumed', async () => {
    const answers = [];
    for (const isShared of [false, true]) {
      await using world = await openTrialWorld();
      if (isShared) await world.create({}, 'acc_2');
      const ruleId = await world.create({ trial });
      await world.match('cats', 12);
      await world.changes.pause(ruleId, changeBy('acc_1'));
      await world.listenedFor(ruleId, 30);
      const paused = await world.estimate();
      // Alone, it gets another slot than before.
      if (!isShared) await world.database.run('delete from slots');
      await world.update(ruleId, { budget: null });
      await world.resumeRule(ruleId);
      await world.match('cats', 4);
      answers.push({ paused, resumed: await world.estimate() });
    }
    expect(answers[0]).toEqual(answers[1]);
    expect(answers[0]).toMatchObject({ paused: twelve, resumed: twelve });
  });
});
