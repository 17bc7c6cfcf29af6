import { operations } from '@earshot/contract';
import { eventually, type Template } from '@earshot/testkit';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Database, openDatabase } from '../src/engines/database.ts';
import { createMetrics } from '../src/observability/metrics.ts';
import { createMigratedTemplate, openTestDatabase, seedRules } from './support.ts';
import { type Received, startEndpoint, type WebEndpoint } from './web-endpoint.ts';
import { createWebhookWorld, type TestWebhook, type WebhookWorld } from './webhook-world.ts';

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

const within = { timeoutMs: 100_000 };
const hour = 3_600_000;

async function withWorld(run: (world: WebhookWorld, database: Database) => Promise<void>): Promise<void> {
  await using clone = await template.clone();
  await using database = openTestDatabase(clone.url, 16);
  await seedRules(database, 2);
  await run(createWebhookWorld(database), database);
}

const texts = (count: number, prefix = 'post') =>
  Array.from({ length: count }, (_, index) => `${prefix} ${index}`);

/** To the moment at which the webhook is tried again, if it waits for one. */
async function passTime({ webhooks, clock }: WebhookWorld): Promise<void> {
  const nextAt = (await webhooks.list('acc_1'))[0]?.next_attempt_at ?? null;
  if (nextAt !== null) clock.offsetMs = Math.max(clock.offsetMs, Date.parse(nextAt) - Date.now());
}

/** Verified by the published library; throws when the signature is not right. */
function textsOf({ body, headers }: Received, { id, secret }: TestWebhook): string[] {
  const message = new Webhook(secret).verify(body, headers);
  const parsed = Object(message);
  expect(parsed).toMatchObject({ type: 'matches', webhook_id: id });
  const { matches } = operations.ListMatches.answer.parse({
    matches: parsed.matches,
    next_cursor: null,
    coverage: null,
  });
  return matches.map(({ payload }) => payload.text ?? '');
}

describe('a webhook', () => {
  test('gets every match once and in order, in batches, signed; a rule or platform narrows it', () =>
    withWorld(async (world) => {
      await using endpoint = await startEndpoint();
      await using narrow = await startEndpoint();
      await using none = await startEndpoint();
      const webhook = await world.createWebhook(endpoint.url);
      const ofRule2 = await world.createWebhook(narrow.url, { ruleId: 'rule_2' });
      await world.createWebhook(none.url, { platform: 'firehose' });
      await world.storeMatches(texts(250));
      await world.storeMatches(['of the second rule'], 'rule_2');
      await using _sender = world.startSender();
      const sent = () => endpoint.received.flatMap((one) => textsOf(one, webhook));
      await eventually(() => expect(sent()).toHaveLength(251), within);
      await world.storeMatches(['one more']);
      await eventually(() => expect(sent()).toHaveLength(252), within);
      expect(sent()).toEqual([...texts(250), 'of the second rule', 'one more']);
      expect(endpoint.received).toHaveLength(4);
      expect(narrow.received.flatMap((one) => textsOf(one, ofRule2))).toEqual(['of the second rule']);
      expect(none.received).toEqual([]);
      await eventually(async () => {
        const [latest] = await world.deliveries(webhook.id);
        expect(latest).toMatchObject({ outcome: 'delivered', status: 200, attempt: 1, match_count: 1 });
      }, within);
    }));

  test('that is created later does not get what was there before', () =>
    withWorld(async (world) => {
      await world.storeMatches(['before']);
      await using endpoint = await startEndpoint();
      const webhook = await world.createWebhook(endpoint.url);
      await using _sender = world.startSender();
      await world.storeMatches(['after']);
      await eventually(() => expect(endpoint.received).toHaveLength(1), within);
      expect(endpoint.received.flatMap((one) => textsOf(one, webhook))).toEqual(['after']);
    }));

  test('is tried again with the same bytes under the same id, after a 429 not before it allows', () =>
    withWorld(async (world) => {
      let answers = 0;
      await using endpoint = await startEndpoint((_received, response) => {
        if (answers++ === 0) response.writeHead(429, { 'retry-after': '3600' }).end('later');
        return answers === 1 ? undefined : answers === 2 ? 500 : 200;
      });
      const webhook = await world.createWebhook(endpoint.url);
      await world.storeMatches(['a', 'b']);
      await using _sender = world.startSender();
      await eventually(async () => expect(await world.deliveries(webhook.id)).toHaveLength(1), within);
      const [waiting] = await world.webhooks.list('acc_1');
      const waitMs = Date.parse(waiting?.next_attempt_at ?? '') - Date.now();
      expect(Math.abs(waitMs - hour)).toBeLessThan(60_000);
      // What comes meanwhile is for the next batch.
      await world.storeMatches(['c']);
      world.clock.offsetMs += hour;
      await eventually(async () => expect(await world.deliveries(webhook.id)).toHaveLength(2), within);
      world.clock.offsetMs += hour;
      await eventually(() => expect(endpoint.received).toHaveLength(4), within);
      const [first, second, third, fourth] = endpoint.received;
      for (const again of [second, third]) {
        expect(again?.body).toBe(first?.body);
        expect(again?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
      }
      expect(fourth?.headers['webhook-id']).not.toBe(first?.headers['webhook-id']);
      await eventually(async () => expect(await world.deliveries(webhook.id)).toHaveLength(4), within);
      const attempts = (await world.deliveries(webhook.id)).map(({ outcome, attempt }) => [outcome, attempt]);
      expect(attempts.toReversed()).toEqual([
        ['failed', 1],
        ['failed', 2],
        ['delivered', 3],
        ['delivered', 1],
      ]);
      expect((await world.webhooks.list('acc_1'))[0]).toMatchObject({ failing_since: null });
    }));

  test('that answers 410 is disabled at once, tells so in the audit, and goes on where it stopped', () =>
    withWorld(async (world, database) => {
      let gone = true;
      await using endpoint = await startEndpoint(() => (gone ? 410 : 200));
      const webhook = await world.createWebhook(endpoint.url);
      await world.storeMatches(['a']);
      await using _sender = world.startSender();
      const state = async () => (await world.webhooks.list('acc_1'))[0];
      await eventually(async () => expect(await state()).toMatchObject({ state: 'disabled' }), within);
      expect(await state()).toMatchObject({ disabled_because: 'gone' });
      expect(
        await database.many(`select actor, target_id, after from audit where operation = 'DisableWebhook'`),
      ).toEqual([
        {
          actor: 'earshot',
          target_id: webhook.id,
          after: { state: 'disabled', disabled_because: 'gone' },
        },
      ]);
      gone = false;
      await world.storeMatches(['b']);
      await world.webhooks.update(world.change('UpdateWebhook'), webhook.id, { state: 'active' });
      await eventually(() => expect(endpoint.received).toHaveLength(3), within);
      const [refused, again, next] = endpoint.received;
      expect(again?.body).toBe(refused?.body);
      expect(next && textsOf(next, webhook)).toEqual(['b']);
      expect(await state()).toMatchObject({ state: 'active', disabled_because: null });
    }));

  test('that is paused gets nothing, and everything when it is resumed', () =>
    withWorld(async (world) => {
      await using endpoint = await startEndpoint();
      await using other = await startEndpoint();
      const webhook = await world.createWebhook(endpoint.url);
      await world.createWebhook(other.url);
      await world.webhooks.update(world.change('UpdateWebhook'), webhook.id, { state: 'paused' });
      await using _sender = world.startSender();
      await world.storeMatches(['a', 'b']);
      await eventually(() => expect(other.received).toHaveLength(1), within);
      expect(endpoint.received).toEqual([]);
      await world.webhooks.update(world.change('UpdateWebhook'), webhook.id, { state: 'active' });
      await eventually(() => expect(endpoint.received).toHaveLength(1), within);
      expect(endpoint.received.flatMap((one) => textsOf(one, webhook))).toEqual(['a', 'b']);
    }));

  test('that refuses some matches gets the others, and those are listed as parked', () =>
    withWorld(async (world) => {
      await using endpoint = await startEndpoint(({ body }) => (body.includes('poison') ? 422 : 200));
      const webhook = await world.createWebhook(endpoint.url);
      const all = texts(120).map((text, index) => ([7, 57, 58].includes(index) ? `poison ${index}` : text));
      await world.storeMatches(all);
      await using _sender = world.startSender();
      const accepted = () =>
        endpoint.received
          .filter(({ body }) => !body.includes('poison'))
          .flatMap((one) => textsOf(one, webhook));
      await eventually(async () => {
        await passTime(world);
        return expect(accepted()).toHaveLength(117);
      }, within);
      expect(accepted()).toEqual(all.filter((text) => !text.startsWith('poison')));
      await eventually(
        async () => expect(await world.deliveries(webhook.id, 'parked')).toHaveLength(3),
        within,
      );
      const parked = (await world.deliveries(webhook.id, 'parked')).map((one) => one.first_match_id ?? '');
      expect(parked.toSorted()).toEqual(['mat_000000000008', 'mat_00000000001m', 'mat_00000000001n']);
    }));

  test('that is set back gets everything again as new messages, also while an attempt is under way', () =>
    withWorld(async (world) => {
      const arrived = Promise.withResolvers<void>();
      const goOn = Promise.withResolvers<void>();
      let first = true;
      await using endpoint = await startEndpoint((_received, response) => {
        if (!first) return 200;
        first = false;
        arrived.resolve();
        void goOn.promise.then(() => response.writeHead(200).end());
        return undefined;
      });
      const webhook = await world.createWebhook(endpoint.url);
      await world.storeMatches(['a', 'b']);
      await using _sender = world.startSender();
      await arrived.promise;
      const answer = { webhook_id: webhook.id, from_match_id: 'mat_000000000001' };
      expect(await world.webhooks.setBack(world.change('ReplayWebhook'), webhook.id, 0, answer)).toBe(true);
      goOn.resolve();
      await eventually(() => expect(endpoint.received).toHaveLength(2), within);
      const [before, again] = endpoint.received;
      expect(again && textsOf(again, webhook)).toEqual(['a', 'b']);
      expect(again?.headers['webhook-id']).not.toBe(before?.headers['webhook-id']);
    }));

  test('with a new secret bears both signatures until the old one has run out', () =>
    withWorld(async (world, database) => {
      await using endpoint = await startEndpoint();
      const webhook = await world.createWebhook(endpoint.url);
      const other = await world.createWebhook(endpoint.url);
      await world.webhooks.remove(world.change('DeleteWebhook'), other.id);
      await database.run(
        `update webhooks set previous_secret = secret, previous_secret_until = now() + interval '24 hours'`,
      );
      await using _sender = world.startSender();
      await world.storeMatches(['a']);
      await eventually(() => expect(endpoint.received).toHaveLength(1), within);
      expect(endpoint.received[0]?.headers['webhook-signature']?.split(' ')).toHaveLength(2);
      await database.run('update webhooks set previous_secret_until = now()');
      await world.storeMatches(['b']);
      await eventually(() => expect(endpoint.received).toHaveLength(2), within);
      expect(endpoint.received[1]?.headers['webhook-signature']?.split(' ')).toHaveLength(1);
      expect(endpoint.received.flatMap((one) => textsOf(one, webhook))).toEqual(['a', 'b']);
    }));
});

test('a secret that cannot be opened is our trouble: nothing is sent, and nobody is charged', () =>
  withWorld(async (world, database) => {
    await using endpoint = await startEndpoint();
    const webhook = await world.createWebhook(endpoint.url);
    const other = await world.createWebhook('https://hooks.example/');
    await database.run(
      'update webhooks set secret = (select secret from webhooks where id = $2) where id = $1',
      [webhook.id, other.id],
    );
    await world.webhooks.remove(world.change('DeleteWebhook'), other.id);
    await using _sender = world.startSender();
    await world.storeMatches(['a']);
    await eventually(async () => expect(await world.deliveries(webhook.id)).toHaveLength(1), within);
    expect(await world.deliveries(webhook.id)).toMatchObject([{ outcome: 'not_sent', status: null }]);
    expect(await world.webhooks.list('acc_1')).toMatchObject([{ state: 'active', failing_since: null }]);
    expect(endpoint.received).toEqual([]);
  }));

describe('a dead endpoint', () => {
  const attempted = async (world: WebhookWorld, endpoint: WebEndpoint, count: number) => {
    await eventually(async () => {
      await passTime(world);
      expect(endpoint.received.length).toBeGreaterThanOrEqual(count);
    }, within);
    await eventually(async () => expect((await stateOf(world))?.next_attempt_at).not.toBeNull(), within);
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
      world.clock.offsetMs += 119 * hour;
      await attempted(world, endpoint, 7);
      expect(await stateOf(world)).toMatchObject({ state: 'active' });
      world.clock.offsetMs += hour;
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
  test.each(Object.entries(retries))(
    'is retried at once after %s, without any time passing',
    (_name, retry) =>
      withWorld(async (world) => {
        let dead = true;
        await using endpoint = await startEndpoint(() => (dead ? 503 : 200));
        const webhook = await world.createWebhook(endpoint.url);
        await world.storeMatches(texts(2));
        await using _sender = world.startSender();
        await attempted(world, endpoint, 4);
        const waiting = await stateOf(world);
        expect(await world.webhooks.test(webhook.id)).toMatchObject({ outcome: 'failed' });
        expect(await stateOf(world)).toEqual(waiting);
        dead = false;
        await world.storeMatches(['new']);
        await retry(world, webhook.id);
        const sent = () => endpoint.received.filter(({ body }) => body.includes('"matches"')).slice(4);
        await eventually(() => expect(sent().flatMap(textsIn)).toEqual([...texts(2), 'new']), within);
      }),
  );

  test('is retried at once after a good test also when an attempt hangs meanwhile', () =>
    withWorld(async (world) => {
      const hangs = Promise.withResolvers<void>();
      const over = Promise.withResolvers<void>();
      await using endpoint = await startEndpoint(({ body }, response) => {
        const isFirst = body.includes('"matches"') && endpoint.received.length === 1;
        if (!isFirst) return 200;
        void over.promise.then(() => response.writeHead(503).end());
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

  test(
    'get one request each in a minute, for a bounded number of statements',
    async () => {
      await using clone = await template.clone();
      const metrics = createMetrics();
      await using database = openDatabase({
        url: clone.url,
        connectionsMax: 16,
        onIdleError: () => undefined,
        measure: { name: 'test', metrics },
      });
      await seedRules(database, 1);
      const world = createWebhookWorld(database);
      await using endpoint = await startEndpoint(() => 503);
      await world.createMany(endpoint.url, count);
      await world.storeMatches(['one']);
      await using _sender = world.startSender();
      const patiently = { timeoutMs: 100_000 + count * 20 };
      const attemptsDone = (least: number) => async () => {
        const { done } = (await database.one<{ done: number }>(
          'select sum(failures) as done from webhooks',
        )) ?? { done: 0 };
        expect(Number(done)).toBeGreaterThanOrEqual(least);
      };
      await eventually(attemptsDone(count), patiently);
      world.clock.offsetMs += 10_000;
      await eventually(attemptsDone(2 * count), patiently);
      const statementsOf = async () =>
        (await metrics.statementSeconds.get()).values.find(({ metricName }) => metricName?.endsWith('_count'))
          ?.value ?? 0;
      for (const minute of [1, 2]) {
        const [before, startedAt] = [await statementsOf(), performance.now()];
        world.clock.offsetMs += 75_000;
        await eventually(attemptsDone((2 + minute) * count), { ...patiently, intervalMs: 200 });
        const statements = ((await statementsOf()) - before) / count;
        const seconds = (performance.now() - startedAt) / 1_000;
        process.stdout.write(
          `${count} failing endpoints: a round took ${seconds.toFixed(1)} s, ${statements.toFixed(1)} statements for each\n`,
        );
        expect(endpoint.received).toHaveLength((2 + minute) * count);
        expect(statements).toBeLessThan(12);
      }
    },
    100_000 + count * 80,
  );
});
