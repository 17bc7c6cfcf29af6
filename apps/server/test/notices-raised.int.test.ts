import { eventually, migratedTemplate, type TestDatabase } from '@earshot/testkit';
import { beforeEach, describe, expect, test } from 'vitest';
import { defaultPricing } from '../src/billing/prices.ts';
import { createGapNotifier } from '../src/coverage/notify-gaps.ts';
import { createRepairStore } from '../src/coverage/repair-store.sql.ts';
import type { Database } from '../src/engines/database.ts';
import { createLeaseStore, type Lease } from '../src/engines/leases.ts';
import { createCoverageIntervals } from '../src/ingest/coverage-intervals.sql.ts';
import { createSourceStore } from '../src/ingest/source-store.sql.ts';
import { createNoticeReader } from '../src/notices/notice-reader.sql.ts';
import { createRuleExpiry } from '../src/rules/expiry.ts';
import { lockRule, pauseLocked } from '../src/rules/rule-changes.sql.ts';
import { createRuleStore } from '../src/rules/rule-store.sql.ts';
import { createRegistrarStore } from '../src/slots/registrar.sql.ts';
import { changeBy, changesOf } from './changes.ts';
import { openTestDatabase, seedRules } from './support.ts';
import { startEndpoint } from './web-endpoint.ts';
import { createWebhookWorld, passToNextAttempt, type WebhookWorld } from './webhook-world.ts';

/* Which account gets which notice, and when it is resolved. Rules 1 and 2 are of acc_1; acc_2 has rule_3 on the slot of rule_1. */

const template = migratedTemplate();
let clone: TestDatabase;
let database: Database;
let lease: Lease;
beforeEach(async () => {
  clone = await template.clone();
  database = openTestDatabase(clone.url, 12);
  await seedRules(database, 2);
  await database.run(`insert into accounts (id, name, plan) values ('acc_2', 'two', 'paid')`);
  await database.run(
    `insert into rules (id, account_id, name, intent, state) values ('rule_3', 'acc_2', 'rule', 'test', 'active')`,
  );
  await database.run(
    `insert into slot_holders (slot_id, rule_id, account_id, platform, rule_version, served_since)
     values ('slot_1', 'rule_3', 'acc_2', 'x', 1, now())`,
  );
  await database.run(
    `insert into rule_versions (rule_id, version, platform, value, translated_value, platform_rule_id, slot_id)
     select rule_id, 1, 'x', 'v', 'v', 'p', slot_id from slot_holders`,
  );
  await database.run('update slots set registered_at = now()');
  const acquired = await createLeaseStore(database).acquire('test', 'me', 60_000);
  if (!acquired) throw new Error('there is no lease');
  lease = acquired;
  return async () => {
    await database[Symbol.asyncDispose]();
    await clone[Symbol.asyncDispose]();
  };
});

/** The notices of an account, oldest first: type, subject, whether it is resolved. */
async function noticesOf(accountId = 'acc_1'): Promise<string[]> {
  const placed = await createNoticeReader(database).read({
    accountId,
    open: false,
    order: 'oldest',
    from: null,
    limit: 100,
  });
  return placed.map(
    ({ notice: { type, subject, resolved_at } }) =>
      `${type} ${subject.id}${resolved_at === null ? '' : ' resolved'}`,
  );
}

describe('a rule', () => {
  const expire = async () => {
    await database.run(`update rules set expires_at = now() where id = 'rule_1'`);
    return await createRuleExpiry(database).pauseExpired();
  };

  test('that expires raises one notice for its owner, which is resolved by a resume', async () => {
    expect(await expire()).toBe(1);
    expect(await createRuleExpiry(database).pauseExpired()).toBe(0);
    expect(await noticesOf()).toEqual(['rule.expired rule_1']);
    expect(await noticesOf('acc_2')).toEqual([]);
    await database.run(`update rules set expires_at = null where id = 'rule_1'`);
    const changes = changesOf(database);
    const begun = await changes.beginResume({ accountId: 'acc_1', ruleId: 'rule_1', premiumRulesMax: 10 });
    if (begun.kind !== 'begun') throw new Error(begun.kind);
    await changes.apply(begun.change, changeBy('acc_1', null, 'ResumeRule'));
    expect(await noticesOf()).toEqual(['rule.expired rule_1 resolved']);
  });

  test('that is deleted has no open notice', async () => {
    await expire();
    await createRuleStore(database).delete(changeBy('acc_1', null, 'DeleteRule'), 'rule_1');
    expect(await noticesOf()).toEqual(['rule.expired rule_1 resolved']);
  });

  test('that Earshot pauses raises a notice; one that its owner pauses does not', async () => {
    const pause = (ruleId: string, actor: string) =>
      database.transaction(async (sql) => {
        const rule = await lockRule(sql, ruleId);
        if (!rule) throw new Error('no rule');
        const change = { ...changeBy('acc_1', null, 'StopForBudget'), actor };
        await pauseLocked(sql, rule, change, { pricing: defaultPricing() });
      });
    await pause('rule_1', 'key_1');
    expect(await noticesOf()).toEqual([]);
    await pause('rule_2', 'earshot');
    expect(await noticesOf()).toEqual(['rule.paused rule_2']);
  });

  test('that the upstream refuses later raises a notice for each holder, until it is accepted again', async () => {
    const store = createRegistrarStore(database, { ruleDelayMs: 0 });
    await store.recordVanished(lease, ['slot_1', 'slot_2']);
    expect(await noticesOf()).toEqual([]);
    for (const _ of [1, 2]) {
      await store.recordProblem(lease, ['slot_1'], { kind: 'refused', words: 'not any more' });
      await database.run(`update slots set state = 'wanted' where state = 'failed'`);
    }
    expect(await noticesOf()).toEqual(['rule.refused rule_1']);
    expect(await noticesOf('acc_2')).toEqual(['rule.refused rule_3']);
    const registered = [{ slotId: 'slot_1', upstreamRuleId: '9', foreignRule: false }];
    await store.recordRegistered(lease, registered);
    expect(await noticesOf()).toEqual(['rule.refused rule_1 resolved']);
    expect(await noticesOf('acc_2')).toEqual(['rule.refused rule_3 resolved']);
  });

  test('that was never registered is refused by the answer, not by a notice', async () => {
    await database.run(`update slots set registered_at = null, state = 'wanted' where id = 'slot_1'`);
    const store = createRegistrarStore(database, { ruleDelayMs: 0 });
    await store.recordProblem(lease, ['slot_1'], { kind: 'refused', words: 'no' });
    expect(await noticesOf()).toEqual([]);
  });
});

describe('a source', () => {
  const show = (state: 'live' | 'no_credit' | 'reconnecting') =>
    createSourceStore(database).recordState(lease, 'x:main', {
      state,
      detail: state === 'no_credit' ? 'CreditsDepleted' : null,
      nextAttemptInMs: null,
    });

  test('that needs the operator raises one notice for each account with an active rule on it, until it is live', async () => {
    await database.run(`insert into accounts (id, name, plan) values ('acc_3', 'idle', 'paid')`);
    await show('reconnecting');
    expect(await noticesOf()).toEqual([]);
    await show('no_credit');
    await show('no_credit');
    for (const account of ['acc_1', 'acc_2'])
      expect(await noticesOf(account)).toEqual(['source.action_required x:main']);
    expect(await noticesOf('acc_3')).toEqual([]);
    await show('reconnecting');
    expect(await noticesOf()).toEqual(['source.action_required x:main']);
    await show('live');
    expect(await noticesOf()).toEqual(['source.action_required x:main resolved']);
  });

  test('raises the same notice for an account whether or not another one holds its slot', async () => {
    await show('no_credit');
    const shared = await read('acc_1');
    await database.run('delete from notices');
    await database.run(`delete from slot_holders where account_id = 'acc_2'`);
    await show('no_credit');
    expect(await read('acc_1')).toEqual(shared);
  });

  async function read(accountId: string) {
    const query = { accountId, open: false, order: 'oldest', from: null, limit: 10 } as const;
    const placed = await createNoticeReader(database).read(query);
    return placed.map(({ notice: { type, severity, subject, data, what_to_do } }) => ({
      type,
      severity,
      subject,
      data,
      what_to_do,
    }));
  }
});

describe('a source that is disconnected', () => {
  const bells = { ring: () => undefined };
  const registered = (secondsAgo: number) =>
    database.run(`update slots set registered_at = now() - $1 * interval '1 second'`, [secondsAgo]);

  test('for a minute raises a notice, which is resolved when it receives again', async () => {
    const check = createGapNotifier({ database, bells });
    await registered(55);
    await check();
    await check();
    expect(await noticesOf()).toEqual([]);
    await registered(65);
    await check();
    // After an outage of PostgreSQL, the source has not proven its coverage yet.
    expect(await noticesOf()).toEqual([]);
    await check();
    await check();
    for (const account of ['acc_1', 'acc_2'])
      expect(await noticesOf(account)).toEqual(['source.disconnected x:main']);
    await createCoverageIntervals(database).openCoverage('x:main');
    await check();
    for (const account of ['acc_1', 'acc_2'])
      expect(await noticesOf(account)).toContain('source.disconnected x:main resolved');
  });

  test('has no open notice after it lost its last rule', async () => {
    const check = createGapNotifier({ database, bells });
    await registered(65);
    await check();
    await check();
    expect(await noticesOf()).toEqual(['source.disconnected x:main']);
    await database.run(`update slots set state = 'releasing'`);
    await check();
    expect(await noticesOf()).toEqual(['source.disconnected x:main resolved']);
  });

  test('until the operator acts has the notice that names the action, and no other', async () => {
    const check = createGapNotifier({ database, bells });
    await registered(65);
    await database.run(`update sources set state = 'no_credit'`);
    await check();
    await check();
    expect(await noticesOf()).toEqual([]);
  });
});

describe('a gap', () => {
  const intervals = () => createCoverageIntervals(database);
  /** The id of the gap. */
  const reopen = async (because: string, seconds = 6) => {
    const { id } = await intervals().openCoverage('x:main');
    await intervals().closeCoverage('x:main', id, { because, uncoveredMs: 0 });
    await database.run(
      `update coverage set proven_until = proven_until - $2 * interval '1 second' where id = $1`,
      [id, seconds],
    );
    return (await intervals().openCoverage('x:main')).id;
  };

  describe('under 5 s', () => {
    const checkLater = async () => {
      await database.run(
        `update coverage set from_at = from_at - interval '11 minutes', gap_from = gap_from - interval '11 minutes'`,
      );
      await database.run(`update slot_holders set served_since = now() - interval '1 day'`);
      await createGapNotifier({ database, bells: { ring: () => undefined } })();
    };

    test('raises no notice if it is repaired, and one notice if it is not', async () => {
      const id = await reopen('dropped', 4);
      await checkLater();
      await createGapNotifier({ database, bells: { ring: () => undefined } })();
      for (const account of ['acc_1', 'acc_2']) expect(await noticesOf(account)).toEqual(['coverage.gap x']);
      await database.run('delete from notices');
      await createRepairStore(database).settleWhole(
        lease,
        { id, from: new Date(1), to: new Date(2), planned: false },
        { repair: 'repaired', via: 'recovery', because: null },
      );
      await createGapNotifier({ database, bells: { ring: () => undefined } })();
      expect(await noticesOf()).toEqual([]);
    });

    test('raises no notice at once, and none for accounts whose rules were searched', async () => {
      const id = await reopen('dropped', 4);
      expect(await noticesOf()).toEqual([]);
      await database.run(
        `insert into gap_repairs (coverage_id, slot_id, via, state) values ($1, 'slot_1', 'search', 'done'), ($1, 'slot_2', 'search', 'impossible')`,
        [id],
      );
      await checkLater();
      expect(await noticesOf('acc_1')).toEqual(['coverage.gap x']);
      expect(await noticesOf('acc_2')).toEqual([]);
    });

    test('that the platform plans raises no notice', async () => {
      await reopen('finished', 4);
      await checkLater();
      expect(await noticesOf()).toEqual([]);
    });
  });

  test('in the ledger raises a notice, and its repair another one', async () => {
    const id = await reopen('dropped');
    expect(await noticesOf()).toEqual(['coverage.gap x']);
    const gap = { id, from: new Date(1), to: new Date(2), planned: false };
    const whole = { repair: 'repaired', via: 'recovery', because: null } as const;
    await createRepairStore(database).settleWhole(lease, gap, whole);
    await createRepairStore(database).settleWhole(lease, gap, whole);
    for (const account of ['acc_1', 'acc_2'])
      expect(await noticesOf(account)).toEqual(['coverage.gap x resolved', 'coverage.repaired x resolved']);
  });

  test('that cannot be repaired stays open; a later one is another notice', async () => {
    const id = await reopen('dropped');
    const gap = { id, from: new Date(1), to: new Date(2), planned: false };
    const none = { repair: 'none', via: 'replay', because: 'longer_than_replay' } as const;
    await createRepairStore(database).settleWhole(lease, gap, none);
    await reopen('stalled');
    expect(await noticesOf()).toEqual(['coverage.gap x', 'coverage.gap x']);
  });

  test('that is searched is resolved for accounts whose rules were all searched, whatever others watch', async () => {
    const id = await reopen('dropped');
    const gap = { id, from: new Date(1), to: new Date(2), planned: false };
    const store = createRepairStore(database);
    const waiting = { state: 'waiting', because: null, fidelity: [] } as const;
    // Slot 2 is of acc_1 only, and cannot be searched.
    await store.plan(lease, gap, [
      { ...waiting, slotId: 'slot_1' },
      { ...waiting, slotId: 'slot_2', state: 'impossible', because: 'not_searchable' },
    ]);
    await store.recordProgress(lease, gap, 'slot_1', {
      nextToken: null,
      matches: 0,
      state: 'done',
      because: null,
    });
    await store.settle(lease, gap);
    expect(await noticesOf('acc_1')).toEqual(['coverage.gap x']);
    expect(await noticesOf('acc_2')).toEqual(['coverage.gap x resolved', 'coverage.repaired x resolved']);
  });

  test('that the platform makes as planned, or from before the first rule, raises no notice', async () => {
    await reopen('finished');
    await reopen('no_rules');
    const reasons = await database.many<{ gap_because: string }>('select gap_because from coverage');
    expect(reasons.map(({ gap_because }) => gap_because)).toContain('not_listening_yet');
    expect(await noticesOf()).toEqual([]);
  });
});

describe('a webhook', () => {
  const within = { timeoutMs: 60_000 };

  /** Moves the time until these notices exist. */
  const passUntil = (world: WebhookWorld, id: string, wanted: readonly string[]) =>
    eventually(async () => {
      await passToNextAttempt(world);
      expect((await noticesOf()).map((one) => one.replace(id, ''))).toEqual(wanted);
    }, within);

  test('raises a notice at its first failure of a day, and later ones of that day if they last five minutes', async () => {
    let status = 500;
    await using endpoint = await startEndpoint(() => status);
    const world = createWebhookWorld(database);
    // Not across midnight.
    const dayMs = 86_400_000;
    await world.clock.pass(dayMs + 6 * 3_600_000 - (Date.now() % dayMs));
    const virtualMs = () => Date.now() + world.clock.offsetMs;
    const { id } = await world.createWebhook(endpoint.url);
    await using _sender = world.startSender();
    await world.storeMatches(['one']);
    await eventually(async () => expect(await noticesOf()).toEqual([`webhook.failing ${id}`]), within);
    expect(endpoint.received).toHaveLength(1);
    status = 200;
    await passUntil(world, id, ['webhook.failing  resolved']);
    // As if it had been raised when the virtual day was real.
    await database.run('update notices set created_at = $1', [new Date(virtualMs())]);

    status = 500;
    const againMs = virtualMs();
    await world.storeMatches(['two']);
    await passUntil(world, id, ['webhook.failing  resolved', 'webhook.failing ']);
    expect(virtualMs() - againMs).toBeGreaterThan(4.5 * 60_000);
    status = 200;
    await passUntil(world, id, ['webhook.failing  resolved', 'webhook.failing  resolved']);

    await world.clock.pass(dayMs);
    status = 500;
    const nextMs = virtualMs();
    await world.storeMatches(['three']);
    await eventually(async () => expect(await noticesOf()).toHaveLength(3), within);
    expect(virtualMs() - nextMs).toBeLessThan(60_000);
  });

  test('that fails for a day raises one more notice, and both are resolved when it delivers', async () => {
    let status = 500;
    await using endpoint = await startEndpoint(() => status);
    const world = createWebhookWorld(database);
    const { id } = await world.createWebhook(endpoint.url);
    await using _sender = world.startSender();
    await world.storeMatches(['one']);
    await attempt(world, () => endpoint.received.length, 3);
    await world.clock.pass(23 * 3_600_000);
    await attempt(world, () => endpoint.received.length, 4);
    expect(await noticesOf()).toEqual([`webhook.failing ${id}`]);
    await world.clock.pass(3_600_000);
    await passUntil(world, id, ['webhook.failing ', 'webhook.failing ']);
    const lasting = await database.many<{ data: object; what_to_do: string }>(
      `select data, what_to_do from notices where key = 'day'`,
    );
    expect(lasting).toMatchObject([{ data: { days: 1 }, what_to_do: expect.stringContaining('24 hours') }]);
    await attempt(world, () => endpoint.received.length, endpoint.received.length + 2);
    expect(await noticesOf()).toHaveLength(2);
    status = 200;
    await passUntil(world, id, ['webhook.failing  resolved', 'webhook.failing  resolved']);
  });

  test('that is given up raises a notice', async () => {
    await using endpoint = await startEndpoint(() => 410);
    const world = createWebhookWorld(database);
    const { id } = await world.createWebhook(endpoint.url);
    await using _sender = world.startSender();
    await world.storeMatches(['one']);
    await eventually(async () => expect(await noticesOf()).toEqual([`webhook.disabled ${id}`]), within);
  });

  /** Moves the time to the next attempts. */
  async function attempt(world: WebhookWorld, attempts: () => number, wanted: number) {
    await eventually(async () => {
      if (attempts() < wanted) await passToNextAttempt(world);
      expect(attempts()).toBeGreaterThanOrEqual(wanted);
    }, within);
  }
});
