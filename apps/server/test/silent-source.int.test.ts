import { eventually, startTestNats, type Template } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEventConsumer } from '../src/event-log/event-consumer.ts';
import { openLogWorld } from './log-world.ts';
import { createMigratedTemplate, openTestDatabase } from './support.ts';

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

/** The first time events are asked for, the client falls silent for good, as has been seen after reconnects. */
test('a client that brings nothing while events wait is replaced', async () => {
  await using servers = await startTestNats();
  await using clone = await template.clone();
  await using database = openTestDatabase(clone.url);
  await using world = await openLogWorld({ servers, database });
  const { jetstream, manager } = world.nats;
  let asked = 0;
  const consumers: typeof jetstream.consumers = Object.create(jetstream.consumers, {
    get: {
      value: async (...given: Parameters<typeof jetstream.consumers.get>) => {
        const consumer = await jetstream.consumers.get(...given);
        if (asked++ > 0) return consumer;
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
  expect(asked).toBe(2);
  await eventually(async () => (await world.metrics.workerFailures.get()).values[0]?.value === 1, {
    timeoutMs: 1_000,
  });
});
