import { text } from 'node:stream/consumers';
import type { AnswerOf, RequestOf } from '@earshot/contract';
import type { Template } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSourceStore } from '../src/ingest/source-store.sql.ts';
import { listRules } from '../src/rules/list-rules.ts';
import { createRuleStore, type NewRule } from '../src/rules/rule-store.sql.ts';
import { createCursors } from '../src/runtime/cursor.ts';
import { newId } from '../src/runtime/ids.ts';
import { callOf } from './call-of.ts';
import { changeBy, completionOf } from './changes.ts';
import { createMigratedTemplate, openTestDatabase } from './support.ts';
import { beginRule } from './upstream-world.ts';

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

async function openRules(sources: Parameters<ReturnType<typeof createSourceStore>['announce']>[0]) {
  await using stack = new AsyncDisposableStack();
  const clone = stack.use(await template.clone());
  const database = stack.use(openTestDatabase(clone.url, 20));
  await database.run(
    `insert into accounts (id, name, plan) values ('acc_1', 'one', 'paid'), ('acc_2', 'two', 'paid')`,
  );
  await createSourceStore(database).announce(sources);
  const all = stack.move();
  return { database, store: createRuleStore(database), [Symbol.asyncDispose]: () => all.disposeAsync() };
}

const x = { id: 'x:main', platform: 'x', capacity: 1_000 } as const;
const firehose = { id: 'firehose:main', platform: 'firehose', capacity: 1_000 } as const;

describe('a slot', () => {
  test('is shared by the rules of two accounts and removed with the last of them', async () => {
    await using rules = await openRules([x]);
    const mine = await beginRule(rules.store, { x: 'word' });
    const theirs = await beginRule(rules.store, { x: 'word' }, { accountId: 'acc_2' });
    const states = () => rules.database.many('select state from slots');
    expect(await states()).toEqual([{ state: 'wanted' }]);
    await rules.store.abandon(mine.ruleId);
    expect(await states()).toEqual([{ state: 'wanted' }]);
    await rules.store.abandon(theirs.ruleId);
    expect(await states()).toEqual([{ state: 'releasing' }]);
  });

  test('is created once for concurrent creations with the same query', async () => {
    await using rules = await openRules([x]);
    await Promise.all(Array.from({ length: 20 }, () => beginRule(rules.store, { x: 'word' })));
    expect(await rules.database.many('select 1 from slots')).toHaveLength(1);
    expect(await rules.database.many('select 1 from slot_holders')).toHaveLength(20);
  });

  test('is not taken if another platform of the rule has no room', async () => {
    await using rules = await openRules([x, { ...firehose, capacity: 0 }]);
    const { outcome } = await beginRule(rules.store, { x: 'word', firehose: 'word' });
    expect(outcome).toEqual({ kind: 'sources_full', platform: 'firehose', capacity: 0 });
    for (const table of ['rules', 'slots', 'slot_holders', 'rule_versions']) {
      expect({ [table]: await rules.database.many(`select 1 from ${table}`) }).toEqual({ [table]: [] });
    }
  });

  test('that was refused is deleted with its rule, and may be tried again', async () => {
    await using rules = await openRules([x]);
    const first = await beginRule(rules.store, { x: 'word' });
    await rules.database.run(`update slots set state = 'failed', problem = 'no', problem_kind = 'refused'`);
    const second = await beginRule(rules.store, { x: 'word' });
    expect(await rules.store.slotStates(second.ruleId)).toMatchObject([{ state: 'wanted', problem: null }]);
    await rules.database.run(`update slots set state = 'failed'`);
    await rules.store.abandon(first.ruleId);
    await rules.store.abandon(second.ruleId);
    expect(await rules.database.many('select 1 from slots')).toEqual([]);
  });
});

describe('limits', () => {
  test('an account gets exactly as many premium rules as its plan allows, with concurrent requests', async () => {
    await using rules = await openRules([x]);
    const begun = await Promise.all(
      Array.from({ length: 20 }, (_, n) => beginRule(rules.store, { x: `word${n}` }, { premiumRulesMax: 7 })),
    );
    const kinds = begun.map(({ outcome }) => outcome.kind);
    expect(kinds.filter((kind) => kind === 'begun')).toHaveLength(7);
    expect(kinds.filter((kind) => kind === 'premium_limit')).toHaveLength(13);
    expect(await rules.database.many('select 1 from slot_holders')).toHaveLength(7);
    const other = await beginRule(rules.store, { x: 'word' }, { accountId: 'acc_2', premiumRulesMax: 7 });
    expect(other.outcome.kind).toBe('begun');
  });

  test('premium rules do not include those on firehose', async () => {
    await using rules = await openRules([x, firehose]);
    await beginRule(rules.store, { firehose: 'one' });
    await beginRule(rules.store, { firehose: 'two' });
    expect((await beginRule(rules.store, { x: 'word' }, { premiumRulesMax: 1 })).outcome.kind).toBe('begun');
    expect((await beginRule(rules.store, { x: 'more' }, { premiumRulesMax: 1 })).outcome).toEqual({
      kind: 'premium_limit',
      used: 1,
    });
  });

  test('two sources are filled evenly and to the last place, with concurrent requests', async () => {
    await using rules = await openRules([
      { ...x, id: 'x:a', capacity: 6 },
      { ...x, id: 'x:b', capacity: 6 },
    ]);
    const place = (from: number, count: number) =>
      Promise.all(Array.from({ length: count }, (_, n) => beginRule(rules.store, { x: `word${from + n}` })));
    const used = () =>
      rules.database.many('select source_id, count(*) from slots group by source_id order by source_id');
    await place(0, 8);
    expect(await used()).toEqual([
      { source_id: 'x:a', count: 4 },
      { source_id: 'x:b', count: 4 },
    ]);
    const outcomes = (await place(8, 12)).map(({ outcome }) => outcome.kind);
    expect(outcomes.filter((kind) => kind === 'begun')).toHaveLength(4);
    expect(outcomes.filter((kind) => kind === 'sources_full')).toHaveLength(8);
    expect(await used()).toEqual([
      { source_id: 'x:a', count: 6 },
      { source_id: 'x:b', count: 6 },
    ]);
    // A query that has its slot needs no room.
    expect((await beginRule(rules.store, { x: 'word0' })).outcome.kind).toBe('begun');
  });

  test('without a source for the platform there is no rule', async () => {
    await using rules = await openRules([x]);
    expect((await beginRule(rules.store, { firehose: 'word' })).outcome).toEqual({
      kind: 'no_source',
      platform: 'firehose',
    });
  });
});

test('fifty concurrent creations and deletions of rules with the same queries never deadlock', async () => {
  await using rules = await openRules([x, firehose]);
  const words = ['one', 'two', 'three'];
  const createAndDelete = async (n: number) => {
    for (let round = 0; round < 3; round++) {
      const word = words[(n + round) % words.length] ?? '';
      const other = words[(n * 2 + round) % words.length] ?? '';
      const { ruleId } = await beginRule(
        rules.store,
        { x: word, firehose: other },
        { accountId: n % 2 === 0 ? 'acc_1' : 'acc_2' },
      );
      if (n % 3 === 0) {
        await rules.store.abandon(ruleId);
      } else {
        await rules.store.activate(completionOf(changeBy('acc_1'), ruleId));
        expect(await rules.store.delete(changeBy(n % 2 === 0 ? 'acc_1' : 'acc_2'), ruleId)).not.toBeNull();
      }
    }
  };
  await Promise.all(Array.from({ length: 50 }, (_, n) => createAndDelete(n)));
  expect(await rules.database.many('select 1 from slot_holders')).toEqual([]);
  const slots = await rules.database.many<{ state: string }>('select state from slots');
  expect(slots).toHaveLength(6);
  expect(new Set(slots.map(({ state }) => state))).toEqual(new Set(['releasing']));
});

describe('a creation', () => {
  test('that was given up cannot be activated, and its rule is a tombstone', async () => {
    await using rules = await openRules([x]);
    const { ruleId } = await beginRule(rules.store, { x: 'word' });
    await rules.store.abandon(ruleId);
    expect(await rules.store.activate(completionOf(changeBy('acc_1'), ruleId))).toBeNull();
    await rules.store.abandon(ruleId);
    expect(await rules.database.many('select state from rules')).toEqual([{ state: 'deleted' }]);
  });

  test('is undone when it is old, and left alone when it is young or done', async () => {
    await using rules = await openRules([x]);
    const [old, young, done] = [
      await beginRule(rules.store, { x: 'old' }),
      await beginRule(rules.store, { x: 'young' }),
      await beginRule(rules.store, { x: 'done' }),
    ];
    await rules.store.activate(completionOf(changeBy('acc_1'), done.ruleId));
    await rules.database.run(`update rules set created_at = now() - interval '1 minute' where id = any($1)`, [
      [old.ruleId, done.ruleId],
    ]);
    expect(await rules.store.abandonOlderThan(25_000)).toBe(1);
    const states = await rules.database.many('select state from rules order by id');
    expect(states).toEqual([{ state: 'deleted' }, { state: 'creating' }, { state: 'active' }]);
    expect(await rules.store.activate(completionOf(changeBy('acc_1'), young.ruleId))).not.toBeNull();
  });

  test('is invisible to its account until it is active, and to other accounts for ever', async () => {
    await using rules = await openRules([x]);
    const { ruleId } = await beginRule(rules.store, { x: 'word' });
    expect(await rules.store.exists('acc_1', ruleId)).toBe(false);
    expect(await rules.store.delete(changeBy('acc_1'), ruleId)).toBeNull();
    await rules.store.activate(completionOf(changeBy('acc_1'), ruleId));
    expect(await rules.store.exists('acc_1', ruleId)).toBe(true);
    expect(await rules.store.exists('acc_2', ruleId)).toBe(false);
    expect(await rules.store.delete(changeBy('acc_2'), ruleId)).toBeNull();
    expect(await rules.store.page('acc_2', { before: null, limit: 10 })).toEqual([]);
    expect(await rules.store.page('acc_1', { before: null, limit: 10 })).toMatchObject([{ id: ruleId }]);
  });
});

describe('a rule that is kept as code', () => {
  const managedBy = { set: 'launches', key: 'rockets' };
  const ruleOn = (value: string): NewRule => ({
    id: newId('rule'),
    accountId: 'acc_1',
    createdBy: 'key_1',
    name: 'rule',
    intent: 'test',
    expiresAt: null,
    examples: { must_match: [{ platform: 'x', payload: { text: value } }], must_not_match: [] },
    managedBy,
    premiumRulesMax: 100,
    values: [{ platform: 'x', value, translatedValue: value }],
  });

  test('has its key exclusively, with concurrent creations, and releases it', async () => {
    await using rules = await openRules([x]);
    await beginRule(rules.store, { x: 'known' });
    await rules.database.run(`update slots set state = 'registered', upstream_rule_id = 'up_1'`);
    await rules.database.run(`update sources set live_until = now() + interval '1 hour'`);
    // One query that is registered already and one that is not: the two ways that a creation takes.
    for (const value of ['known', 'notyet']) {
      const all = Array.from({ length: 5 }, () => ruleOn(value));
      const begun = await Promise.allSettled(
        all.map((rule) => rules.store.begin(rule, completionOf(changeBy('acc_1'), rule.id))),
      );
      const winner = all[begun.findIndex(({ status }) => status === 'fulfilled')]?.id ?? '';
      const refusals = begun.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
      expect(refusals).toEqual(Array.from({ length: 4 }, () => 'already_exists'));
      if (value === 'notyet') await rules.store.activate(completionOf(changeBy('acc_1'), winner));
      expect(await rules.store.get('acc_1', winner)).toMatchObject({
        managed_by: managedBy,
        examples: ruleOn(value).examples,
      });
      await rules.store.delete(changeBy('acc_1'), winner);
    }
  });
});

test('the list of rules is newest first, and its pages have every rule once, also if one is created meanwhile', async () => {
  await using rules = await openRules([x]);
  const list = listRules({ store: rules.store, cursors: createCursors(Buffer.alloc(32)) });
  const add = async (value: string) => {
    const { ruleId } = await beginRule(rules.store, { x: value });
    await rules.store.activate(completionOf(changeBy('acc_1'), ruleId));
    return ruleId;
  };
  const ask = async (request: RequestOf<'ListRules'>, accountId = 'acc_1') => {
    const answer = await list(callOf('ListRules', request, accountId));
    const page: AnswerOf<'ListRules'> = 'rules' in answer ? answer : JSON.parse(await text(answer));
    return { ids: page.rules.map(({ id }) => id), next: page.next_cursor };
  };
  const all: string[] = [];
  for (const value of ['one', 'two', 'three', 'four', 'five']) all.unshift(await add(value));
  expect(await ask({})).toEqual({ ids: all, next: null });
  expect(await ask({}, 'acc_2')).toEqual({ ids: [], next: null });
  for (const limit of [1, 2, 5, 1_000]) {
    const seen: string[] = [];
    const before = [...all];
    let page = await ask({ limit });
    all.unshift(await add(`after the first page of ${limit}`));
    seen.push(...page.ids);
    while (page.next !== null) {
      page = await ask({ limit, cursor: page.next });
      seen.push(...page.ids);
    }
    expect(seen).toEqual(before);
  }
});
