import { eventually, type Template } from '@earshot/testkit';
import { headers } from '@nats-io/transport-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readInstallation } from '../src/engines/installation.ts';
import { eventsStream } from '../src/event-log/events-stream.ts';
import { createDeadLetters, retryDeadLetters } from '../src/matching/dead-letters.ts';
import type { MatchStore } from '../src/matching/match-store.sql.ts';
import { createLocalBells } from './local-bells.ts';
import { openOwnLogWorld } from './log-world.ts';
import { xEvent } from './stream-events.ts';
import { createMigratedTemplate, silentTelemetry } from './support.ts';

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

const poison = new Set([3, 77, 150].map((number) => xEvent(number).key));

/** Data that PostgreSQL refuses on every attempt. */
function refusing(store: MatchStore): MatchStore {
  return {
    ...store,
    async write(posts, matches, ...rest) {
      if (posts.some((post) => poison.has(post.key))) {
        throw Object.assign(new Error('invalid byte sequence'), { code: '22021' });
      }
      return await store.write(posts, matches, ...rest);
    },
  };
}

async function openMatching() {
  await using stack = new AsyncDisposableStack();
  const { world, database } = stack.use(await openOwnLogWorld(template));
  await world.check();
  const letters = createDeadLetters(database);
  const installation = (await readInstallation(database)).id;
  const retry = (store: MatchStore) =>
    retryDeadLetters({
      installation,
      store,
      letters,
      bells: createLocalBells(),
      telemetry: silentTelemetry(),
    });
  const all = stack.move();
  return { world, letters, retry, database, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

test('events that cannot be stored become dead letters after five attempts, and delay no other events', async () => {
  await using matching = await openMatching();
  const { world, letters, retry } = matching;
  await world.append(0, 200);
  await using _workers = world.startWorkers({ store: refusing(world.store) });
  await world.storedAll(197, 10_000);
  await eventually(async () => expect(await letters.list()).toHaveLength(3), { timeoutMs: 30_000 });
  const buried = await letters.list();
  expect(new Set(buried.map((letter) => JSON.parse(letter.body).key))).toEqual(poison);
  expect(buried.map(({ deliveries, error }) => ({ deliveries, error }))).toEqual(
    buried.map(() => ({ deliveries: 5, error: 'invalid byte sequence' })),
  );
  expect((await world.metrics.deadLetters.get()).values[0]?.value).toBe(3);
  // They are settled: the check of the log does not report them as gaps.
  await eventually(
    async () => {
      await world.check();
      const { state } = await world.nats.manager.streams.info(eventsStream);
      expect((await world.metrics.logCheckedThrough.get()).values[0]?.value).toBe(state.last_seq);
    },
    { timeoutMs: 10_000 },
  );
  expect(await world.holes('found')).toBe(0);

  expect(await letters.requestRetry(buried[0]?.id ?? 0)).toBe(1);
  await retry(refusing(world.store));
  expect(await letters.list()).toHaveLength(3);
  expect((await letters.list()).some((letter) => letter.retry_requested)).toBe(false);
  expect(await letters.requestRetry(null)).toBe(3);
  await retry(world.store);
  expect(await letters.list()).toEqual([]);
  expect(await world.stored()).toHaveLength(200);
});

test('a message that is not an event becomes a dead letter at once', async () => {
  await using matching = await openMatching();
  const { world, letters, retry } = matching;
  const broken = '{"platform":"x"\0';
  await world.nats.jetstream.publish('events.x.main', broken, { headers: headers() });
  await world.append(0, 5);
  await using _workers = world.startWorkers();
  await world.storedAll(5, 10_000);
  expect(await letters.list()).toMatchObject([{ sequence: 1, body: '{"platform":"x"', deliveries: 1 }]);
  await letters.requestRetry(null);
  await retry(world.store);
  expect(await letters.list()).toMatchObject([{ sequence: 1, retry_requested: false }]);
});

test('an event that is nested too deeply to be stored becomes a dead letter, and delays no other events', async () => {
  await using matching = await openMatching();
  const { world, letters } = matching;
  const deep = JSON.stringify(xEvent(9)).replace(
    '"raw":{}',
    `"raw":{"deep":${'['.repeat(60_000)}${']'.repeat(60_000)}}`,
  );
  await world.nats.jetstream.publish('events.x.main', deep, { headers: headers() });
  await world.append(0, 5);
  await using _workers = world.startWorkers();
  await world.storedAll(5, 30_000);
  await eventually(async () => expect(await letters.list()).toHaveLength(1), { timeoutMs: 30_000 });
  expect(await letters.list()).toMatchObject([{ sequence: 1, body: deep, deliveries: 5 }]);
  await world.idle();
  expect(await world.stored()).toHaveLength(5);
});

test('a database with a wrong schema makes no dead letters: the events wait', async () => {
  await using matching = await openMatching();
  const { world, letters, database } = matching;
  await database.run('alter table usage rename to usage_away');
  // Messages for both workers.
  for (let number = 0; number < 20; number++) await world.append(number, 1);
  await using _workers = world.startWorkers();
  const failures = async () => (await world.metrics.workerFailures.get()).values[0]?.value ?? 0;
  await eventually(async () => (await failures()) >= 2, { timeoutMs: 30_000 });
  expect(await letters.list()).toEqual([]);
  expect(await world.stored()).toEqual([]);
});
