import type { ServerResponse } from 'node:http';
import { eventually, migratedTemplate } from '@earshot/testkit';
import { describe, expect, test } from 'vitest';
import { openDatabase } from '../src/engines/database.ts';
import { createMetrics } from '../src/observability/metrics.ts';
import { withClock } from './database-clock.ts';
import { seedRules } from './support.ts';
import { type Received, startEndpoint, type WebEndpoint } from './web-endpoint.ts';
import {
  createWebhookWorld,
  passToNextAttempt,
  type WebhookWorld,
  withWebhookWorld,
} from './webhook-world.ts';

const within = { timeoutMs: 100_000 };

const texts = (count: number) => Array.from({ length: count }, (_, index) => `post ${index}`);

describe('a failing endpoint', () => {
  /** Moves the time until there were so many attempts, and the last one is recorded. */
  const attempted = async (world: WebhookWorld, endpoint: WebEndpoint, count: number) => {
    await eventually(async () => {
      await passToNextAttempt(world);
      expect(endpoint.received.length).toBeGreaterThanOrEqual(count);
    }, within);
    await eventually(async () => {
      const nextMs = Date.parse((await stateOf(world))?.next_attempt_at ?? '');
      expect(nextMs).toBeGreaterThan(virtualMs(world));
    }, within);
  };
  const stateOf = async (world: WebhookWorld) => (await world.webhooks.list('acc_1'))[0];
  const virtualMs = ({ clock }: WebhookWorld) => Date.now() + clock.offsetMs;

  test('that was down for 45 minutes gets new matches within 90 seconds after it is back, in order, none missing', () =>
    withWebhookWorld(async (world) => {
      let backMs: number | null = null;
      const arrivals: { readonly texts: readonly string[]; readonly afterMs: number }[] = [];
      await using endpoint = await startEndpoint((received) => {
        if (backMs === null) return 503;
        arrivals.push({ texts: textsIn(received), afterMs: virtualMs(world) - backMs });
        return 200;
      });
      await world.createWebhook(endpoint.url);
      await using _sender = world.startSender();
      await world.storeMatches(['post 0']);
      await eventually(() => expect(endpoint.received).toHaveLength(1), within);
      const downMs = virtualMs(world);
      let stored = 1;
      while (virtualMs(world) - downMs < 45 * 60_000) {
        await attempted(world, endpoint, endpoint.received.length + 1);
        if (endpoint.received.length % 10 === 0) await world.storeMatches([`post ${stored++}`]);
      }
      // One request a minute, and no more.
      expect(endpoint.received.length).toBeGreaterThan(40);
      expect(endpoint.received.length).toBeLessThan(50);
      await world.storeMatches([`post ${stored++}`]);
      backMs = virtualMs(world);
      const sent = () => arrivals.flatMap((one) => one.texts);
      await eventually(async () => {
        await passToNextAttempt(world);
        expect(sent()).toHaveLength(stored);
      }, within);
      expect(sent()).toEqual(texts(stored));
      for (const { afterMs } of arrivals) expect(afterMs).toBeLessThan(90_000);
      await eventually(
        async () => expect(await stateOf(world)).toMatchObject({ failing_since: null }),
        within,
      );
    }));

  /** In virtual time the library's check of the age cannot succeed. */
  const textsIn = ({ body }: Received): string[] =>
    Object(JSON.parse(body)).matches.map((match: { payload: { text: string } }) => match.payload.text);

  const retries = {
    'a good test': (world: WebhookWorld, id: string) => world.webhooks.test(id),
    'being made active': (world: WebhookWorld, id: string) =>
      world.webhooks.update(world.change('UpdateWebhook'), id, { state: 'active' }),
  };
  /** With a wait that is too long for a test. */
  const notNow = (response: ServerResponse) => {
    response.writeHead(503, { 'retry-after': '3600' }).end();
    return undefined;
  };

  test.each(Object.entries(retries))(
    'is retried at once after %s, however long it would wait',
    (_name, retry) =>
      withWebhookWorld(async (world) => {
        let dead = true;
        const taken: Received[] = [];
        await using endpoint = await startEndpoint((received, response) => {
          if (dead) return notNow(response);
          if (received.body.includes('"matches"')) taken.push(received);
          return 200;
        });
        const webhook = await world.createWebhook(endpoint.url);
        await world.storeMatches(texts(2));
        await using _sender = world.startSender();
        await attempted(world, endpoint, 4);
        await eventually(async () => expect(await world.deliveries(webhook.id)).toHaveLength(3), within);
        const waiting = await stateOf(world);
        expect(await world.webhooks.test(webhook.id)).toMatchObject({ outcome: 'failed' });
        expect(await stateOf(world)).toEqual(waiting);
        dead = false;
        await world.storeMatches(['new']);
        await retry(world, webhook.id);
        await eventually(() => expect(taken.flatMap(textsIn)).toEqual([...texts(2), 'new']), within);
      }),
  );

  test('is retried at once after a successful test, even if an attempt hangs meanwhile, and the test is audited', () =>
    withWebhookWorld(async (world, database) => {
      const hangs = Promise.withResolvers<void>();
      const over = Promise.withResolvers<void>();
      let messages = 0;
      await using endpoint = await startEndpoint(({ body }, response) => {
        if (!body.includes('"matches"') || messages++ > 0) return 200;
        void over.promise.then(() => notNow(response));
        hangs.resolve();
        return undefined;
      });
      const webhook = await world.createWebhook(endpoint.url);
      await world.storeMatches(['one']);
      await using _sender = world.startSender({ timeoutMs: 60_000 });
      await hangs.promise;
      expect(await world.webhooks.test(webhook.id)).toMatchObject({ outcome: 'delivered' });
      expect(
        await database.many(`select target_id, after from audit where operation = 'TestWebhook'`),
      ).toEqual([{ target_id: webhook.id, after: { outcome: 'delivered', status: 200 } }]);
      over.resolve();
      await eventually(() => expect(endpoint.received).toHaveLength(3), within);
      expect(endpoint.received[2]?.body).toBe(endpoint.received[0]?.body);
    }));

  test('lists its first three failures, one in sixty and each with another answer, and counts the others', () =>
    withWebhookWorld(async (world, database) => {
      let status = 503;
      await using endpoint = await startEndpoint(() => status);
      const webhook = await world.createWebhook(endpoint.url);
      await world.storeMatches(['one']);
      await using _sender = world.startSender();
      const rows = async () =>
        (await world.deliveries(webhook.id)).map(({ attempt, status: got }) => [attempt, got]).toReversed();
      const everyAttemptIsCounted = async () => {
        const times = (await world.deliveries(webhook.id)).map((one) => one.times);
        expect(times.reduce((total, one) => total + one)).toBe(endpoint.received.length);
      };
      await attempted(world, endpoint, 10);
      expect(await rows()).toEqual([1, 2, 3].map((attempt) => [attempt, 503]));
      await everyAttemptIsCounted();
      const [latest] = await world.deliveries(webhook.id);
      expect(Date.parse(latest?.last_at ?? '')).toBeGreaterThan(
        Date.parse(latest?.created_at ?? '') + 5 * 60_000,
      );
      status = 500;
      const changedAt = endpoint.received.length + 1;
      await attempted(world, endpoint, changedAt);
      // An attempt in progress would write its own count of failures afterwards.
      await eventually(async () => {
        const idle = 'update webhooks set failures = 58 where lease is null';
        expect(await database.run(idle)).toBe(1);
      }, within);
      // The 59th and the 60th failure.
      await attempted(world, endpoint, endpoint.received.length + 2);
      status = 200;
      await eventually(async () => {
        await passToNextAttempt(world);
        expect((await stateOf(world))?.failing_since).toBeNull();
      }, within);
      expect(await rows()).toEqual([
        [1, 503],
        [2, 503],
        [3, 503],
        [changedAt, 500],
        [expect.any(Number), 500],
        [expect.any(Number), 200],
      ]);
      await everyAttemptIsCounted();
    }));
});

describe('many failing endpoints', () => {
  /** For 10,000, run with EARSHOT_FAILING_WEBHOOKS=10000. */
  const count = Number(process.env['EARSHOT_FAILING_WEBHOOKS'] ?? '200');
  const patiently = { timeoutMs: 100_000 + count * 20 };

  test(
    'get a request each per minute, with a bounded number of statements, and do not delay a healthy one',
    async () => {
      await using clone = await migratedTemplate().clone();
      const metrics = createMetrics();
      await using database = openDatabase({
        url: withClock(clone.url),
        connectionsMax: 16,
        onIdleError: () => undefined,
        measure: { name: 'test', metrics },
      });
      await seedRules(database, 2);
      const world = createWebhookWorld(database);
      await using failing = await startEndpoint(() => 503);
      await using healthy = await startEndpoint();
      await world.createWebhook(healthy.url, { ruleIds: ['rule_2'] });
      await world.createMany(failing.url, count);
      await world.storeMatches(['one']);
      // Otherwise the first endpoints are due again before the last one was tried, on a busy machine.
      await world.clock.freeze();
      await using _sender = world.startSender();
      const failed = async () => {
        const row = await database.one<{ least: number; most: number }>(
          'select min(failures) as least, max(failures) as most from webhooks where url = $1',
          [failing.url],
        );
        return { least: row?.least ?? 0, most: row?.most ?? 0 };
      };
      const allFailed = (times: number) => async () =>
        expect(await failed()).toEqual({ least: times, most: times });
      /** How many requests to others were sent while this one waited. */
      const sendToHealthy = async (): Promise<number> => {
        const [before, sent] = [failing.received.length, healthy.received.length];
        await world.storeMatches(['for the healthy one'], 'rule_2');
        await eventually(() => expect(healthy.received).toHaveLength(sent + 1), {
          ...patiently,
          intervalMs: 5,
        });
        return failing.received.length - before;
      };
      const statements = async () =>
        (await metrics.statementSeconds.get()).values.find(({ metricName }) => metricName?.endsWith('_count'))
          ?.value ?? 0;
      await eventually(allFailed(1), patiently);
      await world.clock.pass(10_000);
      await eventually(allFailed(2), patiently);
      // Too early for the others. When the second message is sent, the worker has checked for them at this time.
      await world.clock.pass(40_000);
      for (const _ of [1, 2]) await sendToHealthy();
      await allFailed(2)();

      const [before, sent] = [await statements(), healthy.received.length];
      await world.clock.pass(35_000);
      let othersMax = 0;
      while ((await failed()).least < 3) othersMax = Math.max(othersMax, await sendToHealthy());
      const requests = count + healthy.received.length - sent;
      expect(((await statements()) - before) / requests).toBeLessThan(12);
      expect(othersMax).toBeLessThan(100);
      await allFailed(3)();
    },
    100_000 + count * 80,
  );
});
