import type { ServerResponse } from 'node:http';
import { eventually, type Template } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase } from '../src/engines/database.ts';
import { createMetrics } from '../src/observability/metrics.ts';
import { withClock } from './database-clock.ts';
import { createMigratedTemplate, openTestDatabase, seedRules } from './support.ts';
import { type Received, startEndpoint, type WebEndpoint } from './web-endpoint.ts';
import { createWebhookWorld, type WebhookWorld } from './webhook-world.ts';

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

const within = { timeoutMs: 100_000 };
const hour = 3_600_000;

async function withWorld(run: (world: WebhookWorld) => Promise<void>): Promise<void> {
  await using clone = await template.clone();
  await using database = openTestDatabase(clone.url, 16);
  await seedRules(database, 1);
  await run(createWebhookWorld(database));
}

const texts = (count: number) => Array.from({ length: count }, (_, index) => `post ${index}`);

/** To the moment at which the webhook is tried again, if it waits for one. The sender checks at once, not at its next poll. */
async function passTime({ webhooks, clock, bells }: WebhookWorld): Promise<void> {
  const nextAt = (await webhooks.list('acc_1'))[0]?.next_attempt_at ?? null;
  if (nextAt === null) return;
  await clock.passTo(nextAt);
  bells.ring('matches');
}

describe('a dead endpoint', () => {
  /** Lets time pass until there were so many attempts, and the last one is recorded. */
  const attempted = async (world: WebhookWorld, endpoint: WebEndpoint, count: number) => {
    await eventually(async () => {
      await passTime(world);
      expect(endpoint.received.length).toBeGreaterThanOrEqual(count);
    }, within);
    await eventually(async () => {
      const nextMs = Date.parse((await stateOf(world))?.next_attempt_at ?? '');
      expect(nextMs).toBeGreaterThan(virtualMs(world));
    }, within);
  };
  const stateOf = async (world: WebhookWorld) => (await world.webhooks.list('acc_1'))[0];
  const virtualMs = ({ clock }: WebhookWorld) => Date.now() + clock.offsetMs;

  test('is given up after five days, and loses nothing', () =>
    withWorld(async (world) => {
      let dead = true;
      await using endpoint = await startEndpoint(() => (dead ? 503 : 200));
      const webhook = await world.createWebhook(endpoint.url);
      await world.storeMatches(texts(3));
      await using _sender = world.startSender();
      await eventually(() => expect(endpoint.received).toHaveLength(1), within);
      const startedAt = virtualMs(world);
      await attempted(world, endpoint, 5);
      expect(virtualMs(world) - startedAt).toBeGreaterThan((5 + 3 * 60 - 10) * 1_000);
      await world.clock.pass(119 * hour);
      await attempted(world, endpoint, 7);
      expect(await stateOf(world)).toMatchObject({ state: 'active' });
      await world.clock.pass(hour);
      await eventually(async () => expect(await stateOf(world)).toMatchObject({ state: 'disabled' }), within);
      expect(await stateOf(world)).toMatchObject({ disabled_because: 'failing', next_attempt_at: null });
      expect(new Set(endpoint.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);

      dead = false;
      await world.webhooks.update(world.change('UpdateWebhook'), webhook.id, { state: 'active' });
      const failed = endpoint.received.length;
      await eventually(() => expect(endpoint.received).toHaveLength(failed + 1), within);
      expect(endpoint.received.at(-1)?.body).toBe(endpoint.received[0]?.body);
    }));

  test('that was down for 45 minutes gets new matches within 90 seconds after it is back, in order, none missing', () =>
    withWorld(async (world) => {
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
        await passTime(world);
        expect(sent()).toHaveLength(stored);
      }, within);
      expect(sent()).toEqual(texts(stored));
      for (const { afterMs } of arrivals) expect(afterMs).toBeLessThan(90_000);
      await eventually(
        async () => expect(await stateOf(world)).toMatchObject({ failing_since: null }),
        within,
      );
    }));

  /** In virtual time the library's check of the age cannot hold. */
  const textsIn = ({ body }: Received): string[] =>
    Object(JSON.parse(body)).matches.map((match: { payload: { text: string } }) => match.payload.text);

  const retries = {
    'a good test': (world: WebhookWorld, id: string) => world.webhooks.test(id),
    'being made active': (world: WebhookWorld, id: string) =>
      world.webhooks.update(world.change('UpdateWebhook'), id, { state: 'active' }),
  };
  /** With a wait that no test sits out. */
  const notNow = (response: ServerResponse) => {
    response.writeHead(503, { 'retry-after': '3600' }).end();
    return undefined;
  };

  test.each(Object.entries(retries))(
    'is retried at once after %s, however long it would wait',
    (_name, retry) =>
      withWorld(async (world) => {
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

  test('is retried at once after a good test also when an attempt hangs meanwhile', () =>
    withWorld(async (world) => {
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
      over.resolve();
      await eventually(() => expect(endpoint.received).toHaveLength(3), within);
      expect(endpoint.received[2]?.body).toBe(endpoint.received[0]?.body);
    }));

  test('lists its first three failures, one in sixty, and each whose answer is another', () =>
    withWorld(async (world) => {
      let status = 503;
      await using endpoint = await startEndpoint(() => status);
      const webhook = await world.createWebhook(endpoint.url);
      await world.storeMatches(['one']);
      await using _sender = world.startSender();
      const rows = async () =>
        (await world.deliveries(webhook.id)).map(({ attempt, status: got }) => [attempt, got]).toReversed();
      await attempted(world, endpoint, 10);
      expect(await rows()).toEqual([1, 2, 3].map((attempt) => [attempt, 503]));
      status = 500;
      const changedAt = endpoint.received.length + 1;
      await attempted(world, endpoint, 62);
      status = 200;
      await eventually(async () => {
        await passTime(world);
        expect((await stateOf(world))?.failing_since).toBeNull();
      }, within);
      const last = endpoint.received.length;
      expect(await rows()).toEqual([
        [1, 503],
        [2, 503],
        [3, 503],
        [changedAt, 500],
        [60, 500],
        [last, 200],
      ]);
    }));
});

describe('many failing endpoints', () => {
  /** 10,000 by hand: EARSHOT_FAILING_WEBHOOKS=10000. */
  const count = Number(process.env['EARSHOT_FAILING_WEBHOOKS'] ?? '200');
  const patiently = { timeoutMs: 100_000 + count * 20 };

  interface Endpoints {
    readonly healthy: WebEndpoint;
    readonly failing: WebEndpoint;
  }

  async function sendToHealthy(world: WebhookWorld, { healthy, failing }: Endpoints) {
    const [startedAt, before, sent] = [performance.now(), failing.received.length, healthy.received.length];
    await world.storeMatches(['for the healthy one'], 'rule_2');
    await eventually(() => expect(healthy.received).toHaveLength(sent + 1), { ...patiently, intervalMs: 5 });
    return { ms: performance.now() - startedAt, requestsToOthers: failing.received.length - before };
  }

  /** One message after the other. */
  async function sendToHealthyDuring(round: Promise<unknown>, world: WebhookWorld, endpoints: Endpoints) {
    const waits: Awaited<ReturnType<typeof sendToHealthy>>[] = [];
    const over = new AbortController();
    const end = () => over.abort();
    void round.then(end, end);
    while (!over.signal.aborted) waits.push(await sendToHealthy(world, endpoints));
    await round;
    return waits;
  }

  test(
    'get a request each in a minute, for a bounded number of statements, and do not delay a healthy one',
    async () => {
      await using clone = await template.clone();
      const metrics = createMetrics();
      await using database = openDatabase({
        url: withClock(clone.url),
        connectionsMax: 16,
        onIdleError: () => undefined,
        measure: { name: 'test', metrics },
      });
      await seedRules(database, 2);
      const world = createWebhookWorld(database);
      const attempts = new Map<string, number[]>();
      await using failing = await startEndpoint(({ headers }) => {
        const id = headers['webhook-id'] ?? '';
        attempts.set(id, [...(attempts.get(id) ?? []), Date.now() + world.clock.offsetMs]);
        return 503;
      });
      await using healthy = await startEndpoint();
      await world.createWebhook(healthy.url, { ruleId: 'rule_2' });
      await world.createMany(failing.url, count);
      await world.storeMatches(['one']);
      await using _sender = world.startSender();
      const allFailed = (times: number) => async () => {
        const least = await database.one<{ failures: number }>(
          'select min(failures) as failures from webhooks where url = $1',
          [failing.url],
        );
        expect(least?.failures).toBeGreaterThanOrEqual(times);
      };
      await eventually(allFailed(1), patiently);
      await world.clock.pass(10_000);
      await eventually(allFailed(2), patiently);
      const statementsOf = async () =>
        (await metrics.statementSeconds.get()).values.find(({ metricName }) => metricName?.endsWith('_count'))
          ?.value ?? 0;
      for (const minute of [1, 2]) {
        // Too early for the others. When the second message is out, the worker has looked for them at this time.
        await world.clock.pass(40_000);
        for (const _ of [1, 2]) await sendToHealthy(world, { healthy, failing });
        const [before, requestsBefore] = [await statementsOf(), failing.received.length];
        const [startedAt, cpuBefore] = [performance.now(), process.cpuUsage()];
        await world.clock.pass(35_000);
        const round = eventually(allFailed(2 + minute), { ...patiently, intervalMs: 200 });
        const waits = await sendToHealthyDuring(round, world, { healthy, failing });
        const { user, system } = process.cpuUsage(cpuBefore);
        const seconds = (performance.now() - startedAt) / 1_000;
        const requests = failing.received.length - requestsBefore + waits.length;
        const statements = ((await statementsOf()) - before) / requests;
        const waitsMs = waits.map(({ ms }) => Math.round(ms)).toSorted((one, other) => one - other);
        const others = Math.max(...waits.map(({ requestsToOthers }) => requestsToOthers));
        process.stdout.write(
          `${count} failing endpoints: ${requests} requests in ${seconds.toFixed(1)} s, ${statements.toFixed(1)} statements for each, ` +
            `${((user + system) / 1e6).toFixed(1)} s of CPU in this process; ${waits.length} messages to a healthy one took ` +
            `${waitsMs[waitsMs.length >> 1]} ms (median), ${waitsMs.at(-1)} ms (longest, after at most ${others} requests to others)\n`,
        );
        expect(statements).toBeLessThan(12);
        expect(others).toBeLessThan(100);
      }
      expect(attempts.size).toBe(count);
      // The second attempt comes after five seconds.
      const pauses = [...attempts.values()].flatMap(([, ...times]) =>
        times.slice(1).map((atMs, index) => atMs - (times[index] ?? 0)),
      );
      expect(Math.min(...pauses)).toBeGreaterThan(50_000);
    },
    100_000 + count * 80,
  );
});
