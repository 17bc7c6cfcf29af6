import { eventually, type Template } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readInstallation } from '../src/engines/installation.ts';
import type { LoggedEvent } from '../src/event-log/event-consumer.ts';
import type { LogEvent } from '../src/event-log/event-log.ts';
import { createParsedRules } from '../src/language/explain-match.ts';
import { createMatchStore } from '../src/matching/match-store.sql.ts';
import { createMatchWorker } from '../src/matching/match-worker.ts';
import { purgeSome } from '../src/matching/purge-deleted-rules.ts';
import { createMetrics } from '../src/observability/metrics.ts';
import { createTelemetry } from '../src/observability/telemetry.ts';
import { createMatchReader } from '../src/readers/match-reader.sql.ts';
import { createRuleStore } from '../src/rules/rule-store.sql.ts';
import { readFirehoseUpdate } from '../src/upstream/firehose/item.ts';
import { readXRecord } from '../src/upstream/x/item.ts';
import { changeBy } from './changes.ts';
import { createLocalBells } from './local-bells.ts';
import { summariseMatches } from './size-world.ts';
import { xEvent } from './stream-events.ts';
import { createMigratedTemplate, openTestDatabase, seedRules, silentLog } from './support.ts';

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

/** Three rules, each with another slot: upstream rules 1, 2 and 3. */
async function openMatching() {
  await using stack = new AsyncDisposableStack();
  const clone = stack.use(await template.clone());
  const database = stack.use(openTestDatabase(clone.url));
  const { tags } = await seedRules(database, 3);
  const installation = (await readInstallation(database)).id;
  const metrics = createMetrics();
  const all = stack.move();
  /** Hands one batch to a worker and returns the outcome of each event. */
  const deliver = async (events: readonly LogEvent[], deliveries = 1): Promise<string[]> => {
    const fates = events.map(() => 'nothing');
    const batch = events.map(
      (event, index): LoggedEvent => ({
        sequence: index + 1,
        event,
        body: JSON.stringify(event),
        loggedAt: new Date(),
        deliveries,
        ack: () => void (fates[index] = 'acknowledged'),
        message: { open: 1 },
        redeliver: () => void (fates[index] = 'again'),
      }),
    );
    await createMatchWorker({
      name: 'match:1',
      installation,
      consumer: {
        async *batches() {
          yield batch;
        },
      },
      store: createMatchStore(database),
      parsedRules: createParsedRules(),
      bells: createLocalBells(),
      telemetry: createTelemetry(silentLog, metrics),
    }).run(new AbortController().signal);
    return fates;
  };
  const dropped = async (reason: string): Promise<number> => {
    const { values } = await metrics.itemsDropped.get();
    return values.find(({ labels }) => labels.platform === 'x' && labels.reason === reason)?.value ?? 0;
  };
  const matches = () =>
    database.many<{ rule_id: string; event_key: string }>(
      'select rule_id, event_key from matches order by position',
    );
  return { database, tags, deliver, dropped, matches, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

describe('a batch', () => {
  test('that is delivered twice is stored once, and counted once', async () => {
    await using matching = await openMatching();
    const events = [
      xEvent(1),
      xEvent(2, { rules: [1, 2].map((n) => ({ upstreamRuleId: `${n}`, tag: null })) }),
    ];
    const usage = () =>
      matching.database.many('select rule_id, matches from usage where platform = $1 order by rule_id', [
        'x',
      ]);
    for (let time = 0; time < 2; time++) {
      expect(await matching.deliver(events)).toEqual(['acknowledged', 'acknowledged']);
      expect(await matching.matches()).toMatchObject([
        { rule_id: 'rule_1', event_key: events[0]?.key },
        { rule_id: 'rule_1', event_key: events[1]?.key },
        { rule_id: 'rule_2', event_key: events[1]?.key },
      ]);
      expect(await usage()).toEqual([
        { rule_id: 'rule_1', matches: 2 },
        { rule_id: 'rule_2', matches: 1 },
      ]);
    }
    await matching.deliver([events[0] ?? xEvent(1), xEvent(3)]);
    expect(await usage()).toEqual([
      { rule_id: 'rule_1', matches: 3 },
      { rule_id: 'rule_2', matches: 1 },
    ]);
    expect(await matching.database.many('select 1 from posts')).toHaveLength(3);
  });

  test('of a search is for the rules that held the slot at the time, also before a pause, and not for later ones', async () => {
    await using matching = await openMatching();
    const { database } = matching;
    // Rule 1 has held the slot for two hours, rule 2 took it again after a pause, and rule 3 is new on it.
    await database.run(`update watches set slot_id = 'slot_1'`);
    await database.run(`update slot_holders set slot_id = 'slot_1'`);
    await database.run(`update slot_holders set since = now() - interval '2 hours' where rule_id = 'rule_1'`);
    await database.run(`update watches set from_at = now() - interval '2 hours' where rule_id <> 'rule_3'`);
    const { payload, ...rest } = xEvent(1, { via: 'search' });
    const published_at = new Date(Date.now() - 3_600_000).toISOString();
    await matching.deliver([{ ...rest, payload: { ...payload, published_at } }]);
    expect(await matching.matches()).toMatchObject([{ rule_id: 'rule_1' }, { rule_id: 'rule_2' }]);
    await matching.deliver([xEvent(2)]);
    expect(await matching.matches()).toHaveLength(5);
  });

  test('that holds the same event twice stores it once', async () => {
    await using matching = await openMatching();
    await matching.deliver([xEvent(1), xEvent(1)]);
    expect(await matching.matches()).toHaveLength(1);
  });

  test('is stored by four concurrent workers without duplicates and without a deadlock', async () => {
    await using matching = await openMatching();
    const events = Array.from({ length: 200 }, (_, n) => xEvent(n));
    await Promise.all(
      [events, events.toReversed(), events.slice(50), events.slice(0, 150)].map((some) =>
        matching.deliver(some),
      ),
    );
    expect(await matching.matches()).toHaveLength(200);
    const positions = await matching.database.many('select distinct position from matches');
    expect(positions).toHaveLength(200);
  });

  test('with an event outside of the partitions drops and counts that one and stores the rest', async () => {
    await using matching = await openMatching();
    const strange = ['1970-01-01', '2999-01-01', '+275760-0'].map((day, n) => xEvent(n, { day }));
    const fates = await matching.deliver([...strange, xEvent(9)]);
    expect(fates).toEqual(Array.from({ length: 4 }, () => 'acknowledged'));
    expect(await matching.matches()).toMatchObject([{ event_key: xEvent(9).key }]);
    expect(await matching.dropped('time_out_of_range')).toBe(3);
  });
});

describe('an event with an unknown rule', () => {
  const unknown = xEvent(1, { rules: [{ upstreamRuleId: '99', tag: null }] });

  test('is redelivered while its source registers rules, and is stored once the rule is known', async () => {
    await using matching = await openMatching();
    await matching.database.run(
      `update slots set state = 'wanted', upstream_rule_id = null where id = 'slot_3'`,
    );
    expect(await matching.deliver([unknown, xEvent(2)])).toEqual(['again', 'acknowledged']);
    expect(await matching.dropped('unknown_rule')).toBe(0);
    expect(await matching.database.many('select sequences::integer[] from settled_batches')).toEqual([
      { sequences: [2] },
    ]);
    await matching.database.run(
      `update slots set state = 'registered', upstream_rule_id = '99' where id = 'slot_3'`,
    );
    expect(await matching.deliver([unknown], 2)).toEqual(['acknowledged']);
    expect(await matching.matches()).toMatchObject([
      { rule_id: 'rule_1', event_key: xEvent(2).key },
      { rule_id: 'rule_3', event_key: unknown.key },
    ]);
  });

  test('is dropped and counted if no registration is under way, or after too many deliveries', async () => {
    await using matching = await openMatching();
    expect(await matching.deliver([unknown])).toEqual(['acknowledged']);
    expect(await matching.dropped('unknown_rule')).toBe(1);
    await matching.database.run(`update slots set state = 'wanted' where id = 'slot_3'`);
    expect(await matching.deliver([unknown], 44)).toEqual(['again']);
    expect(await matching.deliver([unknown], 45)).toEqual(['acknowledged']);
    expect(await matching.dropped('unknown_rule')).toBe(2);
    expect(await matching.matches()).toEqual([]);
  });

  test('finds its rule by our tag, whatever id it has', async () => {
    await using matching = await openMatching();
    const tag = matching.tags[1] ?? '';
    await matching.deliver([xEvent(1, { rules: [{ upstreamRuleId: 'new', tag }] })]);
    expect(await matching.matches()).toMatchObject([{ rule_id: 'rule_2' }]);
  });
});

/** Events that pass the reader's checks must not stop the database (I8): PostgreSQL texts cannot contain U+0000. */
test.each([
  ['tag', readXRecord('x:main', xRecord({ id: '1', tag: 'earshot:\0' }))],
  ['rule id', readXRecord('x:main', xRecord({ id: '1\0' }))],
  ['text', readXRecord('x:main', xRecord({ id: '1' }, 'a\0b'))],
  ['page', readFirehoseUpdate('x:main', '0-1', page({ url: 'https://a.example/\0' }, ['1']))],
  ['query id', readFirehoseUpdate('x:main', '0-1', page({ url: 'https://a.example/' }, ['1\0']))],
  ['title', readFirehoseUpdate('x:main', '0-1', page({ url: 'https://a.example/', title: '\0' }, ['1']))],
])('a U+0000 in the %s of an event does not stop its batch', async (_where, reading) => {
  await using matching = await openMatching();
  const hostile = reading.kind === 'item' ? [reading.item] : [];
  await matching.deliver([...hostile, xEvent(5)]);
  expect(await matching.matches()).toContainEqual({ rule_id: 'rule_1', event_key: xEvent(5).key });
});

function xRecord(rule: { id: string; tag?: string }, text = 'hello'): string {
  const id = String((BigInt(Date.now()) - 1_288_834_974_657n) << 22n);
  return JSON.stringify({ data: { id, text }, matching_rules: [rule] });
}

function page(document: { url: string; title?: string }, queryIds: string[]): string {
  return JSON.stringify({ query_ids: queryIds, matched_at: new Date().toISOString(), document });
}

test('the summaries equal the sums of the matches', async () => {
  await using matching = await openMatching();
  const { database } = matching;
  const rules = [1, 2, 3].map((n) => ({ upstreamRuleId: `${n}`, tag: null }));
  const day = new Date(Date.now() - 3 * 86_400_000).toISOString().slice(0, 10);
  await matching.deliver([xEvent(1, { rules }), xEvent(2), xEvent(3, { day })]);
  await matching.deliver([xEvent(4), xEvent(5, { day, rules: rules.slice(1) })]);
  await database.run(`update match_times set began = began - interval '5 minutes'`);
  await database.run(`update matches set created_at = created_at - interval '5 minutes'`);
  await matching.deliver([xEvent(6)]);
  const kept = async () => ({
    heads: await database.many('select * from heads order by account_id, rule_id, platform'),
    days: await database.many('select * from day_heads order by account_id, rule_id, platform, event_day'),
    times: await database.many('select * from match_times order by began'),
  });
  const written = await kept();
  expect(written.heads).toHaveLength(4);
  expect(written.days).toHaveLength(8);
  expect(written.times.length).toBeGreaterThan(1);
  await database.run('truncate heads, day_heads, match_times');
  await summariseMatches(database);
  expect(await kept()).toEqual(written);
});

test('lists by time find their matches also if the clock was ahead for a while', async () => {
  await using matching = await openMatching();
  const { database } = matching;
  await matching.deliver([xEvent(1)]);
  for (const [table, column] of [
    ['matches', 'created_at'],
    ['match_times', 'began'],
  ])
    await database.run(`update ${table} set ${column} = ${column} + interval '2 hours'`);
  await matching.deliver([xEvent(2)]);
  const list = async ({ sinceMinutes, untilMinutes }: { sinceMinutes?: number; untilMinutes?: number }) => {
    const at = (minutes?: number) => (minutes === undefined ? null : new Date(Date.now() + minutes * 60_000));
    const range = { since: at(sinceMinutes), until: at(untilMinutes) };
    const filter = { accountId: 'acc_1', ruleIds: null, platform: null, from: null, limit: 10 };
    const { matches } = await createMatchReader(database).read({ ...filter, ...range, order: 'oldest' });
    return matches.map(({ position }) => position);
  };
  expect(await list({ sinceMinutes: -5 })).toEqual([1, 2]);
  expect(await list({ sinceMinutes: 60 })).toEqual([1]);
  expect(await list({ untilMinutes: 60 })).toEqual([2]);
  expect(await list({ untilMinutes: 180 })).toEqual([1, 2]);
});

test('the purge removes the matches of deleted rules and no others, and later their tombstones', async () => {
  await using matching = await openMatching();
  const { database } = matching;
  const rules = [1, 2].map((n) => ({ upstreamRuleId: `${n}`, tag: null }));
  await matching.deliver([xEvent(1, { rules }), xEvent(2, { rules })]);
  expect(await createRuleStore(database).delete(changeBy('acc_1'), 'rule_1')).not.toBeNull();
  expect(await purgeSome(database)).toBe(2);
  expect(new Set((await matching.matches()).map((match) => match.rule_id))).toEqual(new Set(['rule_2']));
  const rulesLeft = () => database.many<{ id: string }>('select id from rules order by id');
  expect(await purgeSome(database)).toBe(0);
  expect(await rulesLeft()).toHaveLength(3);
  await database.run(`update rules set deleted_at = now() - interval '2 hours' where id = 'rule_1'`);
  expect(await purgeSome(database)).toBe(0);
  await eventually(async () => expect(await rulesLeft()).toEqual([{ id: 'rule_2' }, { id: 'rule_3' }]), {
    timeoutMs: 1_000,
  });
});
