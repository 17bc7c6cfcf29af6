import { eventually, type Template } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { forgetBilled, recordCall } from '../src/billing/meter.sql.ts';
import { readInstallation } from '../src/engines/installation.ts';
import type { LoggedEvent } from '../src/event-log/event-consumer.ts';
import type { LogEvent } from '../src/event-log/event-log.ts';
import { createMatchStore, type MatchStore } from '../src/matching/match-store.sql.ts';
import { storeBatch } from '../src/matching/match-worker.ts';
import { readFirehoseUpdate } from '../src/upstream/firehose/item.ts';
import { createLocalBells } from './local-bells.ts';
import { xEvent } from './stream-events.ts';
import { createMigratedTemplate, openTestDatabase, seedRules, silentTelemetry } from './support.ts';

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

const dayMs = 24 * 3_600_000;
const today = new Date();
const tomorrow = new Date(today.getTime() + dayMs);

/** Three rules of one account with different slots: upstream rules 1, 2 and 3. Rule 4, of another account, shares slot 1. */
async function openMeter() {
  await using stack = new AsyncDisposableStack();
  const clone = stack.use(await template.clone());
  const database = stack.use(openTestDatabase(clone.url));
  await seedRules(database, 3);
  await database.run(`insert into accounts (id, name, plan) values ('acc_2', 'two', 'paid')`);
  await database.run(
    `insert into rules (id, account_id, name, intent, state) values ('rule_4', 'acc_2', 'rule', 'test', 'active')`,
  );
  await database.run(
    `insert into slot_holders (slot_id, rule_id, account_id, platform, rule_version, served_since)
     values ('slot_1', 'rule_4', 'acc_2', 'x', 1, now())`,
  );
  const installation = (await readInstallation(database)).id;
  let sequence = 0;
  const logged = (event: LogEvent | null, loggedAt: Date | null, more: Partial<LoggedEvent> = {}) => ({
    sequence: ++sequence,
    event,
    body: JSON.stringify(event),
    loggedAt,
    deliveries: 1,
    ack: () => undefined,
    message: { open: 1 },
    redeliver: () => undefined,
    ...more,
  });
  const options = { installation, bells: createLocalBells(), telemetry: silentTelemetry() };
  const deliver = (events: readonly LogEvent[], at = today, store: MatchStore = createMatchStore(database)) =>
    storeBatch(
      { ...options, store },
      events.map((event) => logged(event, at)),
    );
  const bill = () =>
    database.many(
      `select source_id || ' ' || kind as what, day::text, at_least, at_most from source_usage order by 1, 2`,
    );
  const shares = () =>
    database.many<ShareRow>(
      `select rule_id, kind, sum(at_least) as at_least, sum(at_most) as at_most from bill_shares
       group by 1, 2 order by 1, 2`,
    );
  const usage = (accountId: string) =>
    database.many(
      `select rule_id, matches, items, users, referenced_posts from usage where account_id = $1 order by 1`,
      [accountId],
    );
  /** The parts of the bill equal the bill, for every source, day and kind. */
  const unequal = () =>
    database.many(
      `select * from (select source_id, day, kind, at_least * 1000000 as least, at_most * 1000000 as most from source_usage) as bill
       full join (
         select source_id, day, kind, sum(at_least) as least, sum(at_most) as most from bill_shares group by 1, 2, 3
       ) as parts using (source_id, day, kind)
       where bill.least is distinct from parts.least or bill.most is distinct from parts.most`,
    );
  const all = stack.move();
  return {
    database,
    options,
    logged,
    deliver,
    bill,
    shares,
    usage,
    unequal,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

interface ShareRow {
  rule_id: string;
  kind: string;
  at_least: string;
  at_most: string;
}

const named = (...numbers: readonly number[]) =>
  numbers.map((number) => ({ upstreamRuleId: `${number}`, tag: null }));

/** A post with an author and optional referenced posts. */
function post(
  number: number,
  {
    author = '7',
    refersTo = [],
    ...changed
  }: Partial<LogEvent> & { author?: string; refersTo?: number[] } = {},
): LogEvent {
  const event = xEvent(number, changed);
  const tweets = refersTo.map((one) => ({ id: xEvent(one).key }));
  const raw = { data: {}, includes: { users: [{ id: author }], tweets } };
  return { ...event, payload: { ...event.payload, raw } };
}

function page(number: number, { matchedAt = today, sourceId = 'firehose:main' } = {}): LogEvent {
  const update = {
    query_ids: ['9'],
    matched_at: matchedAt.toISOString(),
    document: { url: `https://news.example/${number}` },
  };
  const reading = readFirehoseUpdate(sourceId, `0-${number}`, JSON.stringify(update));
  if (reading.kind !== 'item') throw new Error('not an item');
  return reading.item;
}

const line = (what: string, at: Date, atLeast: number, atMost: number) => ({
  what,
  day: at.toISOString().slice(0, 10),
  at_least: atLeast,
  at_most: atMost,
});

describe('the bill of a source', () => {
  test('has each post, author and referenced post once a day, in one batch and in several', async () => {
    await using meter = await openMeter();
    await meter.deliver([post(1), post(1), post(2, { author: '8', refersTo: [50] })]);
    await meter.deliver([post(2, { author: '8', refersTo: [50] }), post(3, { refersTo: [50, 51] })]);
    expect(await meter.bill()).toEqual([line('x:main post', today, 3, 5), line('x:main user', today, 0, 2)]);
    expect(await meter.unequal()).toEqual([]);
  });

  test('has a post that was first delivered with another one as one post, in both readings', async () => {
    await using meter = await openMeter();
    await meter.deliver([post(1, { refersTo: [2] })]);
    expect(await meter.bill()).toContainEqual(line('x:main post', today, 1, 2));
    await meter.deliver([post(2)]);
    await meter.deliver([post(2), post(3, { refersTo: [2] })]);
    expect(await meter.bill()).toContainEqual(line('x:main post', today, 3, 3));
    // In one batch as well, in either order.
    await meter.deliver([post(4, { refersTo: [5] }), post(5), post(6), post(7, { refersTo: [6] })]);
    expect(await meter.bill()).toContainEqual(line('x:main post', today, 7, 7));
    expect(await meter.unequal()).toEqual([]);
  });

  test('is of the day on which the log got the event, whenever that is stored', async () => {
    await using meter = await openMeter();
    const yesterday = new Date(today.getTime() - dayMs);
    await meter.deliver([post(1)], yesterday);
    await meter.deliver([post(1)], yesterday);
    await meter.deliver([post(1), post(2)], today);
    expect(await meter.bill()).toEqual([
      line('x:main post', yesterday, 1, 1),
      line('x:main post', today, 2, 2),
      line('x:main user', yesterday, 0, 1),
      line('x:main user', today, 0, 1),
    ]);
    // Two posts, each for the two rules of its slot.
    expect(await meter.database.one('select sum(matches) as matches from usage')).toEqual({ matches: '4' });
    expect(await meter.unequal()).toEqual([]);
  });

  test('has a page once per Firehose token, also if it is replayed on the next day', async () => {
    await using meter = await openMeter();
    await meter.deliver([page(1), page(2), page(1, { sourceId: 'firehose:other' })]);
    await meter.deliver([page(1), page(3)], tomorrow);
    expect(await meter.bill()).toEqual([
      line('firehose:main page', today, 2, 2),
      line('firehose:main page', tomorrow, 1, 1),
      line('firehose:other page', today, 1, 1),
    ]);
  });

  test('has items without a rule: unknown rules, days out of range, removed items', async () => {
    await using meter = await openMeter();
    await meter.deliver([post(1, { rules: named(77) })]);
    await meter.deliver([post(2, { day: '2001-01-01' }), post(3)]);
    const { key } = post(4);
    await meter.database.run(
      `insert into tombstones (platform, kind, value, reason) values ('x', 'item', $1, 'deleted')`,
      [key],
    );
    await meter.deliver([post(4), post(5)]);
    expect(await meter.bill()).toContainEqual(line('x:main post', today, 5, 5));
    const whole = 1_000_000;
    expect(await meter.shares()).toMatchObject([
      { rule_id: '', kind: 'post', at_least: `${3 * whole}` },
      { rule_id: '', kind: 'user', at_most: `${whole}` },
      { rule_id: 'rule_1', kind: 'post', at_least: `${whole}` },
      { rule_id: 'rule_4', kind: 'post', at_least: `${whole}` },
    ]);
    expect(await meter.unequal()).toEqual([]);
  });

  test('is not changed by a batch that was committed and is redelivered, or was not committed', async () => {
    await using meter = await openMeter();
    const store = createMatchStore(meter.database);
    const died = new Error('gone');
    const events = [post(1, { refersTo: [9] }), page(1), post(2, { rules: [] })];
    const dying = (after: boolean): MatchStore => ({
      ...store,
      async write(...given) {
        if (after) await store.write(...given);
        throw Object.assign(died, { code: 'ECONNRESET' });
      },
    });
    await expect(meter.deliver(events, today, dying(false))).rejects.toBe(died);
    expect(await meter.bill()).toEqual([]);
    for (let time = 0; time < 2; time++) {
      await expect(meter.deliver(events, today, dying(true))).rejects.toBe(died);
      expect(await meter.bill()).toEqual([
        line('firehose:main page', today, 1, 1),
        line('x:main post', today, 2, 3),
        line('x:main user', today, 0, 1),
      ]);
    }
    expect(await meter.unequal()).toEqual([]);
  });

  test('has all of a batch whose transaction failed at its end, once it succeeds', async () => {
    await using meter = await openMeter();
    await meter.database.run(
      `create function fail() returns trigger language plpgsql as
         $$ begin raise exception 'gone' using errcode = 'connection_failure'; end $$;
       create constraint trigger failing after insert on source_usage deferrable initially deferred
         for each row execute function fail()`,
    );
    const batches = [[post(1, { refersTo: [9] })], [post(2, { rules: named(77) })]];
    for (const batch of batches)
      await expect(meter.deliver(batch)).rejects.toMatchObject({ code: 'unavailable' });
    await meter.database.run('drop trigger failing on source_usage');
    for (const batch of batches) await meter.deliver(batch);
    expect(await meter.bill()).toEqual([line('x:main post', today, 2, 3), line('x:main user', today, 0, 1)]);
  });

  test('has a referenced post once if two posts deliver it at the same time', async () => {
    await using meter = await openMeter();
    await meter.deliver([post(1, { refersTo: [2] })]);
    const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    const bothWait = async () => expect(await meter.database.many(waiting)).toHaveLength(2);
    const both = await meter.database.transaction(async (sql) => {
      await sql.run('select 1 from billed where not delivered for update');
      const writing = [1, 2].map(() => meter.deliver([post(2, { rules: named(77) })]));
      await eventually(bothWait, { timeoutMs: 20_000 });
      return writing;
    });
    await Promise.all(both);
    expect(await meter.bill()).toContainEqual(line('x:main post', today, 2, 2));
  });

  test('is exact with many concurrent writers', async () => {
    await using meter = await openMeter();
    const batch = (offset: number) =>
      Array.from({ length: 40 }, (_, n) =>
        post((n * 7 + offset) % 40, {
          author: `${(n * 3 + offset) % 11}0`,
          refersTo: [(n * 5 + offset) % 60],
        }),
      );
    await Promise.all(Array.from({ length: 8 }, (_, offset) => meter.deliver(batch(offset * 5))));
    const most = new Set(
      Array.from({ length: 8 }, (_, o) => batch(o * 5))
        .flat()
        .flatMap(({ key, payload }) => [key, ...tweetsOf(payload.raw)]),
    );
    expect(await meter.bill()).toEqual([
      line('x:main post', today, 40, most.size),
      line('x:main user', today, 0, 11),
    ]);
    expect(await meter.unequal()).toEqual([]);
  });

  test('has an event that cannot be stored when it becomes a dead letter, and not again after another attempt', async () => {
    await using meter = await openMeter();
    const refused = Object.assign(new Error('invalid byte sequence'), { code: '22021' });
    const store = createMatchStore(meter.database);
    const refusing: MatchStore = { ...store, write: () => Promise.reject(refused) };
    await storeBatch({ ...meter.options, store: refusing }, [
      meter.logged(post(1), today, { deliveries: 5 }),
    ]);
    expect(await meter.database.many('select 1 from dead_letters')).toHaveLength(1);
    expect(await meter.bill()).toContainEqual(line('x:main post', today, 1, 1));
    await meter.database.run('delete from billed');
    await storeBatch({ ...meter.options, store }, [meter.logged(post(1), null)]);
    expect(await meter.bill()).toContainEqual(line('x:main post', today, 1, 1));
    // All valid JSON becomes a dead letter, without an effect on the bill.
    const nameless = { platform: 'x', sourceId: 'x:main', upstreamEventId: 7 };
    for (const event of [{}, { platform: 'x' }, nameless, 5]) {
      const letter = { sequence: 1, settled: [1], body: '', error: 'e', deliveries: 5, loggedAt: today };
      await store.writeDeadLetter({ ...letter, event: JSON.parse(JSON.stringify(event)) });
    }
    expect(await meter.bill()).toHaveLength(2);
  });

  test('supports ids that are not numbers, or larger than 64 bits', async () => {
    await using meter = await openMeter();
    const odd = ['9999999999999999999', '18446744073709551616', 'not a number', '0', '-1', '\0'];
    await meter.deliver(odd.map((author, n) => post(n, { author })));
    await meter.deliver(odd.map((author, n) => post(n, { author })));
    expect(await meter.bill()).toContainEqual(line('x:main user', today, 0, odd.length));
  });

  test('has calls as separate kinds', async () => {
    await using meter = await openMeter();
    await recordCall(meter.database, 'x:main', 'counts_recent');
    await recordCall(meter.database, 'x:main', 'counts_recent');
    expect(await meter.bill()).toEqual([line('x:main counts_recent', new Date(), 2, 2)]);
    expect(await meter.unequal()).toEqual([]);
  });

  test('stays when the billed items are deleted, and a replay of yesterday is not noticed', async () => {
    await using meter = await openMeter();
    const longAgo = new Date(today.getTime() - 8 * dayMs);
    await meter.deliver([post(1)], longAgo);
    await meter.deliver([page(1)]);
    await forgetBilled(meter.database);
    expect(await meter.database.many('select 1 from billed')).toHaveLength(1);
    await meter.deliver([page(1)], tomorrow);
    expect(await meter.bill()).toEqual([
      line('firehose:main page', today, 1, 1),
      line('x:main post', longAgo, 1, 1),
      line('x:main user', longAgo, 0, 1),
    ]);
  });
});

function tweetsOf(raw: Record<string, unknown>): string[] {
  const { tweets } = raw['includes'] as { tweets: Array<{ id: string }> };
  return tweets.map(({ id }) => id);
}

describe('the usage of an account', () => {
  const third = 333_333;

  test("divides an item and its referenced posts among the account's own rules", async () => {
    await using meter = await openMeter();
    await meter.deliver([post(1, { rules: named(1, 2, 3), refersTo: [8, 9] })]);
    const rows = await meter.usage('acc_1');
    expect(rows).toEqual([
      { rule_id: 'rule_1', matches: 1, items: third, users: third, referenced_posts: 2 * third },
      { rule_id: 'rule_2', matches: 1, items: third, users: third, referenced_posts: 2 * third },
      { rule_id: 'rule_3', matches: 1, items: third + 1, users: third + 1, referenced_posts: 2 * third + 2 },
    ]);
    await meter.deliver([post(1, { rules: named(1, 2, 3), refersTo: [8, 9] })]);
    expect(await meter.usage('acc_1')).toEqual(rows);
  });

  test('does not depend on other holders of the slot, nor on what was billed before', async () => {
    await using meter = await openMeter();
    const events = [
      post(1, { rules: named(1) }),
      post(2, { rules: named(1, 2) }),
      post(3, { rules: named(1) }),
    ];
    await meter.deliver(events);
    await using alone = await openMeter();
    await alone.database.run(`delete from slot_holders where account_id = 'acc_2'`);
    await alone.deliver([post(2, { rules: [] }), post(50, { rules: [] })]);
    await alone.deliver(events);
    expect(await meter.usage('acc_1')).toEqual(await alone.usage('acc_1'));
    expect(await meter.usage('acc_2')).toEqual([
      { rule_id: 'rule_4', matches: 3, items: 3_000_000, users: 3_000_000, referenced_posts: 0 },
    ]);
    // The operator's division is among all rules that received the delivery.
    expect(await meter.shares()).toContainEqual({
      rule_id: 'rule_2',
      kind: 'post',
      at_least: '333333',
      at_most: '333333',
    });
    expect(await meter.unequal()).toEqual([]);
  });
});
