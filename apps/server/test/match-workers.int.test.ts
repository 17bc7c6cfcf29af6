import { eventually, type Template } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../src/engines/database.ts';
import { createEventConsumer } from '../src/event-log/event-consumer.ts';
import type { MatchStore } from '../src/matching/match-store.sql.ts';
import { openOwnLogWorld } from './log-world.ts';
import { xEvent } from './stream-events.ts';
import { createMigratedTemplate } from './support.ts';

const rules = 60;

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

/** One more rule takes the slot that is registered already: nothing happens upstream, so nothing announces it. */
async function takeSlot(database: Database, number: number): Promise<void> {
  await database.transaction(async (sql) => {
    await sql.run(
      `insert into rules (id, account_id, name, intent, state) values ($1, 'acc_1', 'rule', 'test', 'active')`,
      [`rule_${number}`],
    );
    await sql.run(
      `insert into slot_holders (slot_id, rule_id, account_id, platform, rule_version, served_since)
       values ('slot_1', $1, 'acc_1', 'x', 1, now())`,
      [`rule_${number}`],
    );
  });
}

/** Alternates rules and events, with active workers; returns how many events reached an older rule. */
async function run(wrap: (store: MatchStore) => MatchStore): Promise<number> {
  await using opened = await openOwnLogWorld(template);
  const { world, database } = opened;
  await using _workers = world.startWorkers({ store: wrap(world.store) });
  for (let number = 2; number <= rules; number++) {
    await takeSlot(database, number);
    await world.log.append(xEvent(number), null);
  }
  await world.idle();
  const row = await database.one<{ count: number }>(
    `select count(*) from matches where substr(rule_id, 6)::bigint <= event_key::bigint - $1`,
    [xEvent(0).key],
  );
  return row?.count ?? 0;
}

describe('a rule that was acknowledged before an event arrived', () => {
  /** Event n arrives when rules 1 to n exist. */
  const expected = (rules * (rules + 1)) / 2 - 1;

  test('always gets it', async () => {
    expect(await run((store) => store)).toBe(expected);
  });

  test('control: with the rules cached from the first batch, most are missed', async () => {
    const cachedRules = (store: MatchStore): MatchStore => {
      let holders: ReturnType<MatchStore['holdersOf']> | undefined;
      return { ...store, holdersOf: (references) => (holders ??= store.holdersOf(references)) };
    };
    expect(await run(cachedRules)).toBeLessThan(expected);
  });
});

/** When events are requested for the first time, the client becomes silent for good, as has happened after reconnects. */
test('a client that delivers nothing while events wait is replaced', async () => {
  await using opened = await openOwnLogWorld(template);
  const { world } = opened;
  const { jetstream, manager } = world.nats;
  let requests = 0;
  const consumers: typeof jetstream.consumers = Object.create(jetstream.consumers, {
    get: {
      value: async (...given: Parameters<typeof jetstream.consumers.get>) => {
        const consumer = await jetstream.consumers.get(...given);
        if (requests++ > 0) return consumer;
        const messages = await consumer.consume({ max_messages: 1 });
        messages.stop();
        const silence = Promise.withResolvers<never>();
        const silent = { close: async () => undefined, stop: () => undefined, next: () => silence.promise };
        return { consume: async () => ({ ...silent, [Symbol.asyncIterator]: () => silent }) };
      },
    },
  });
  const source = createEventConsumer(
    { ...world.nats, jetstream: Object.create(jetstream, { consumers: { value: consumers } }), manager },
    { stalledAfterMs: 300 },
  );
  await world.append(0, 10);
  await using _workers = world.startWorkers({ count: 1, wrapSource: () => source });
  await world.storedAll(10, 20_000);
  expect(requests).toBe(2);
  await eventually(async () => (await world.metrics.workerFailures.get()).values[0]?.value === 1, {
    timeoutMs: 1_000,
  });
});
