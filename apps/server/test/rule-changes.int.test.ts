import type { Platform } from '@earshot/contract';
import type { Template } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSourceStore } from '../src/ingest/source-store.sql.ts';
import { createMatchStore } from '../src/matching/match-store.sql.ts';
import { createRuleExpiry } from '../src/rules/expiry.ts';
import { createOldSlots, releaseOldSlots } from '../src/rules/release-old-slots.ts';
import type { RuleUpdate } from '../src/rules/rule-changes.sql.ts';
import { createRuleStore } from '../src/rules/rule-store.sql.ts';
import { undoChangesOlderThan } from '../src/rules/undo-abandoned.ts';
import { changeBy, changesOf, completionOf } from './changes.ts';
import { createLocalBells } from './local-bells.ts';
import { createMigratedTemplate, openTestDatabase } from './support.ts';
import { beginRule } from './upstream-world.ts';

const byAlice = changeBy('acc_1', null, 'UpdateRule');

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

/** The stores alone; the test says what the upstream did. */
async function openRules() {
  await using stack = new AsyncDisposableStack();
  const clone = stack.use(await template.clone());
  const database = stack.use(openTestDatabase(clone.url, 20));
  await database.run(`insert into accounts (id, name, plan) values ('acc_1', 'one', 'paid')`);
  await database.run(`update match_progress set matched_through = now() + interval '30 seconds'`);
  await createSourceStore(database).announce([
    { id: 'x:main', platform: 'x', capacity: 1_000 },
    { id: 'firehose:main', platform: 'firehose', capacity: 1_000 },
  ]);
  const store = createRuleStore(database);
  const changes = changesOf(database);
  const all = stack.move();
  const register = () =>
    database.run(
      `update slots set state = 'registered', upstream_rule_id = 'up_' || value where state = 'wanted'`,
    );
  const create = async (values: Partial<Record<Platform, string>>) => {
    const { ruleId } = await beginRule(store, values);
    await register();
    await store.activate(completionOf(byAlice, ruleId));
    return ruleId;
  };
  const begin = (ruleId: string, x: string, changed: Partial<RuleUpdate> = {}) =>
    changes.beginUpdate(
      {
        accountId: 'acc_1',
        ruleId,
        name: undefined,
        intent: undefined,
        expiresAt: undefined,
        values: [{ platform: 'x', value: x, translatedValue: x }],
        platforms: ['x'],
        premiumRulesMax: 1_000,
        keepOldMs: 0,
        ...changed,
      },
      byAlice,
    );
  const update = async (ruleId: string, x: string, changed: Partial<RuleUpdate> = {}) => {
    const outcome = await begin(ruleId, x, changed);
    await register();
    return outcome.kind === 'begun' ? (await changes.apply(outcome.change, byAlice)) !== null : false;
  };
  const resume = async (ruleId: string) => {
    const outcome = await changes.beginResume({ accountId: 'acc_1', ruleId, premiumRulesMax: 1_000 });
    await register();
    return outcome.kind === 'begun' ? (await changes.apply(outcome.change, byAlice)) !== null : false;
  };
  /** The queries that the rule receives items for, with their rule version. */
  const receiving = async (ruleId: string) => {
    const slots = await database.many<{ id: string }>('select id from slots');
    const holders = await createMatchStore(database).holdersOf({
      slotIds: slots.map(({ id }) => id),
      upstreamRules: [],
      searched: false,
    });
    return holders
      .filter((holder) => holder.ruleId === ruleId)
      .map(({ value, ruleVersion }) => `${value} v${ruleVersion}`)
      .toSorted();
  };
  return {
    database,
    store,
    changes,
    create,
    begin,
    update,
    resume,
    receiving,
    oldSlots: createOldSlots(database),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

const stateOf = async ({ database }: { database: ReturnType<typeof openTestDatabase> }) => ({
  rules: await database.many('select * from rules order by id'),
  versions: await database.many('select * from rule_versions order by rule_id, version, platform'),
  holders: await database.many('select * from slot_holders order by slot_id, rule_id'),
});

describe('a change of query', () => {
  test('receives for the new query when it is applied, and for the old one until it is released', async () => {
    await using rules = await openRules();
    const ruleId = await rules.create({ x: 'old' });
    const begun = await rules.begin(ruleId, 'new');
    expect(await rules.receiving(ruleId)).toEqual(['old v1']);
    await rules.database.run(`update slots set state = 'registered'`);
    expect(begun.kind === 'begun' && (await rules.changes.apply(begun.change, byAlice))).toBeTruthy();
    expect(await rules.receiving(ruleId)).toEqual(['new v2', 'old v1']);
    expect(await rules.oldSlots.release(await rules.oldSlots.due())).toBe(1);
    expect(await rules.receiving(ruleId)).toEqual(['new v2']);
    expect(await rules.database.many(`select value, state from slots order by value`)).toEqual([
      { value: 'new', state: 'registered' },
      { value: 'old', state: 'releasing' },
    ]);
  });

  test('on one platform leaves the other platform unchanged', async () => {
    await using rules = await openRules();
    const ruleId = await rules.create({ x: 'old', firehose: 'other' });
    expect(await rules.update(ruleId, 'new', { platforms: undefined })).toBe(true);
    await rules.oldSlots.release(await rules.oldSlots.due());
    expect(await rules.receiving(ruleId)).toEqual(['new v2', 'other v2']);
  });

  test('to other platforms leaves one, and returns with the query that it had there', async () => {
    await using rules = await openRules();
    const ruleId = await rules.create({ x: 'old', firehose: 'other' });
    const onlyFirehose = { values: undefined, platforms: ['firehose'] as const };
    expect(await rules.begin(ruleId, '', onlyFirehose)).toMatchObject({ kind: 'applied' });
    await rules.oldSlots.release(await rules.oldSlots.due());
    expect(await rules.receiving(ruleId)).toEqual(['other v2']);
    expect(await rules.update(ruleId, '', { values: undefined, platforms: ['x', 'firehose'] })).toBe(true);
    expect(await rules.receiving(ruleId)).toEqual(['old v3', 'other v3']);
  });

  test('to a platform on which the rule never was needs a query', async () => {
    await using rules = await openRules();
    const ruleId = await rules.create({ x: 'old' });
    const both = rules.begin(ruleId, '', { values: undefined, platforms: ['x', 'firehose'] });
    await expect(both).rejects.toThrow('overrides.firehose: The rule has never been on "firehose"');
  });

  test('is not released before its time', async () => {
    await using rules = await openRules();
    const ruleId = await rules.create({ x: 'old' });
    await rules.update(ruleId, 'new', { keepOldMs: 60_000 });
    expect(await rules.oldSlots.due()).toEqual([]);
  });

  test('back to a query that is about to be released keeps that slot', async () => {
    await using rules = await openRules();
    const ruleId = await rules.create({ x: 'old' });
    await rules.update(ruleId, 'new');
    const begun = await rules.begin(ruleId, 'old');
    const due = await rules.oldSlots.due();
    expect(due).toHaveLength(1);
    expect(await rules.oldSlots.release(due)).toBe(0);
    expect(begun.kind === 'begun' && (await rules.changes.apply(begun.change, byAlice))).toBeTruthy();
    expect(await rules.oldSlots.release(due)).toBe(0);
    expect(await rules.receiving(ruleId)).toEqual(['new v2', 'old v3']);
  });

  test('that is undone leaves the rows as they were', async () => {
    await using rules = await openRules();
    const ruleId = await rules.create({ x: 'old', firehose: 'other' });
    const before = await stateOf(rules);
    await rules.begin(ruleId, 'new', { name: 'new name' });
    expect(await stateOf(rules)).not.toEqual(before);
    await rules.changes.undo(ruleId);
    expect(await stateOf(rules)).toEqual(before);
    expect(await undoChangesOlderThan(rules.database, 0)).toBe(0);
  });

  test('whose rule is deleted meanwhile is not applied, and holds nothing', async () => {
    await using rules = await openRules();
    const ruleId = await rules.create({ x: 'old' });
    const begun = await rules.begin(ruleId, 'new');
    await rules.store.delete(byAlice, ruleId);
    expect(begun.kind === 'begun' && (await rules.changes.apply(begun.change, byAlice))).toBeNull();
    await rules.changes.undo(ruleId);
    expect(await rules.database.many('select 1 from slot_holders')).toEqual([]);
  });

  test('of a paused rule takes effect when the rule is resumed', async () => {
    await using rules = await openRules();
    const ruleId = await rules.create({ x: 'before' });
    await rules.changes.pause(ruleId, byAlice);
    expect(await rules.begin(ruleId, 'after')).toMatchObject({ kind: 'applied' });
    expect(await rules.receiving(ruleId)).toEqual([]);
    const resumed = await rules.resume(ruleId);
    expect(resumed).toBe(true);
    expect(await rules.receiving(ruleId)).toEqual(['after v2']);
  });

  test('prevents another change, a pause and the expiry', async () => {
    await using rules = await openRules();
    const ruleId = await rules.create({ x: 'old' });
    await rules.database.run(`update rules set expires_at = now() - interval '1 second'`);
    await rules.begin(ruleId, 'new');
    expect(await rules.begin(ruleId, 'newer')).toEqual({ kind: 'under_way' });
    expect((await rules.changes.pause(ruleId, byAlice)).kind).toBe('under_way');
    expect(await createRuleExpiry(rules.database).pauseExpired()).toBe(0);
    await rules.changes.undo(ruleId);
    expect(await createRuleExpiry(rules.database).pauseExpired()).toBe(1);
    const [expired] = await rules.store.page('acc_1', { before: null, limit: 1 });
    expect(expired).toMatchObject({ state: 'paused', pause: { reason: 'expired', resumes_at: null } });
  });

  test('pausing a paused rule succeeds and changes nothing', async () => {
    await using rules = await openRules();
    const ruleId = await rules.create({ x: 'word' });
    const paused = await rules.changes.pause(ruleId, byAlice);
    expect(paused).toMatchObject({
      kind: 'paused',
      rule: { pause: { reason: 'request', resumes_at: null } },
    });
    expect(await rules.changes.pause(ruleId, byAlice)).toEqual(paused);
  });
});

describe('a change of other fields', () => {
  const nothing = { values: undefined, platforms: undefined };
  const free = { code: 'already_exists' };
  const managedBy = { set: 'launches', key: 'rockets' };

  test('is a new version, unless it changes nothing', async () => {
    await using rules = await openRules();
    const ruleId = await rules.create({ x: 'word' });
    const change = async (more: Partial<RuleUpdate>) => {
      expect(await rules.begin(ruleId, '', { ...nothing, ...more })).toMatchObject({ kind: 'applied' });
      return await rules.store.get('acc_1', ruleId);
    };
    expect(await change({ name: 'other', intent: 'another' })).toMatchObject({
      name: 'other',
      intent: 'another',
      version: 2,
    });
    const expiresAt = new Date(Date.now() + 3_600_000);
    expect(await change({ expiresAt })).toMatchObject({ version: 3, expires_at: expiresAt.toISOString() });
    expect(await change({ expiresAt: null })).toMatchObject({ version: 4, expires_at: null });
    expect(await change({ name: 'other' })).toMatchObject({ version: 4 });
    expect(await rules.receiving(ruleId)).toEqual(['word v4']);
  });

  test('is refused, like a deletion, if the rule has another version than the caller has seen', async () => {
    await using rules = await openRules();
    const ruleId = await rules.create({ x: 'word' });
    await rules.begin(ruleId, '', { ...nothing, name: 'changed meanwhile', ifVersion: 1 });
    const refused = { code: 'failed_precondition', message: expect.stringContaining('version 2, not 1') };
    const late = rules.begin(ruleId, '', { ...nothing, name: 'late', ifVersion: 1 });
    await expect(late).rejects.toMatchObject(refused);
    await expect(rules.store.delete(byAlice, ruleId, 1)).rejects.toMatchObject(refused);
    expect(await rules.store.get('acc_1', ruleId)).toMatchObject({ name: 'changed meanwhile', version: 2 });
    expect(await rules.store.delete(byAlice, ruleId, 2)).not.toBeNull();
  });

  test('takes a rule into a set and out of it; the key of another rule is refused before anything begins', async () => {
    await using rules = await openRules();
    const [first, other] = [await rules.create({ x: 'hand' }), await rules.create({ x: 'other' })];
    const into = (ruleId: string, more: Partial<RuleUpdate> = {}) =>
      rules.begin(ruleId, 'elsewhere', { ...nothing, managedBy, ...more });
    expect(await into(first)).toMatchObject({ kind: 'applied' });
    await expect(into(other)).rejects.toMatchObject(free);
    const moved = { values: [{ platform: 'x', value: 'elsewhere', translatedValue: 'elsewhere' }] } as const;
    await expect(into(other, moved)).rejects.toMatchObject(free);
    expect(await rules.begin(other, '', { ...nothing, name: 'free' })).toMatchObject({ kind: 'applied' });
    await rules.begin(first, '', { ...nothing, managedBy: null });
    // With any number of concurrent requests.
    const results = await Promise.allSettled([into(first), into(other), into(first), into(other)]);
    const managed = await rules.database.many('select 1 from rules where managed_key is not null');
    expect(managed).toHaveLength(1);
    expect(results.filter(({ status }) => status === 'rejected').length).toBeGreaterThanOrEqual(1);
  });
});

test('many concurrent changes of few queries end without a deadlock, and every rule receives for its queries', async () => {
  await using rules = await openRules();
  const ids = await Promise.all(Array.from({ length: 20 }, () => rules.create({ x: 'a', firehose: 'a' })));
  await Promise.all(
    ids.flatMap((ruleId, n) => [
      rules.update(ruleId, n % 2 === 0 ? 'b' : 'c'),
      n % 3 === 0
        ? rules.changes.pause(ruleId, byAlice)
        : rules.oldSlots.due().then((due) => rules.oldSlots.release(due)),
      n % 5 === 0 ? rules.store.delete(byAlice, ruleId) : rules.update(ruleId, 'd'),
    ]),
  );
  await undoChangesOlderThan(rules.database, 0);
  while ((await rules.oldSlots.release(await rules.oldSlots.due())) > 0);
  for (const { id, state, version, platforms } of await rules.store.page('acc_1', {
    before: null,
    limit: 100,
  })) {
    const said = Object.values(platforms).map((one) => `${one?.translated_value} v${version}`);
    expect(await rules.receiving(id)).toEqual(state === 'paused' ? [] : said.toSorted());
  }
  expect(await rules.database.many('select 1 from slot_holders where pending')).toEqual([]);
});

test('an old slot is kept while events that were logged before are unmatched', async () => {
  await using rules = await openRules();
  const ruleId = await rules.create({ x: 'old' });
  await rules.update(ruleId, 'new');
  const releasing = { store: rules.oldSlots, bells: createLocalBells() };
  const neededUntil = '(select max(release_at) from slot_holders)';
  const matchedThrough = (time: string) =>
    rules.database.run(`update match_progress set matched_through = ${time}`);
  await matchedThrough(`${neededUntil} - interval '1 ms'`);
  await releaseOldSlots(releasing);
  expect(await rules.receiving(ruleId)).toEqual(['new v2', 'old v1']);
  await matchedThrough(neededUntil);
  await releaseOldSlots(releasing);
  expect(await rules.receiving(ruleId)).toEqual(['new v2']);
});
