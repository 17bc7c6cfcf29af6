import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, migratedTemplate, seededRandom } from '@earshot/testkit';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import type { Database } from '../src/engines/database.ts';
import { type CheckpointLabel, deliveryCheckpoints } from '../src/runtime/checkpoint.ts';
import type { DeliveryStore } from '../src/webhooks/delivery-store.sql.ts';
import { mortal } from './mortal-node.ts';
import { openTestDatabase, seedRules } from './support.ts';
import { type Handler, type Received, startEndpoint } from './web-endpoint.ts';
import {
  createWebhookWorld,
  type TestWebhook,
  type WebhookWorld,
  withWebhookWorld,
} from './webhook-world.ts';

const within = { timeoutMs: 100_000 };
const seed = Number(process.env['WEBHOOK_SEED'] ?? Date.now() % 1_000_000);

/** What a receiver keeps of the messages that it accepted. */
interface Inbox {
  readonly handler: Handler;
  readonly accepted: Received[];
}

/** An endpoint that accepts a message or not; `false` may also mean that it accepted it and the answer was lost. */
function inbox(
  answer: (received: Received, take: () => void, response: Parameters<Handler>[1]) => number | undefined,
) {
  const accepted: Received[] = [];
  const handler: Handler = (received, response) =>
    answer(received, () => void accepted.push(received), response);
  return { handler, accepted };
}

function taking(take: () => void): number {
  take();
  return 200;
}

/** Accepts everything, and breaks the connection instead of answering to the first message and each third after it. */
function forgetful(): Inbox {
  let messages = 0;
  return inbox((_received, take, response) => {
    take();
    if (messages++ % 3 !== 0) return 200;
    response.destroy();
    return undefined;
  });
}

function endpointsOf(random: () => number, state: { gone: boolean }) {
  return {
    steady: inbox((_received, take) => taking(take)),
    flapping: inbox((_received, take) => (random() < 0.4 ? 500 : taking(take))),
    slow: inbox((_received, take, response) => {
      void sleep(200).then(() => response.writeHead(taking(take)).end());
      return undefined;
    }),
    limited: inbox((_received, take, response) => {
      if (random() < 0.7) return taking(take);
      response.writeHead(429, { 'retry-after': '30' }).end();
      return undefined;
    }),
    forgetful: forgetful(),
    gone: inbox((_received, take) => (state.gone && random() < 0.5 ? 410 : taking(take))),
    picky: inbox((received, take) => (received.body.includes('poison') ? 400 : taking(take))),
  } satisfies Record<string, Inbox>;
}

const matchIdsOf = ({ body }: Received): string[] =>
  Object(JSON.parse(body)).matches.map((match: { id: string }) => match.id);

/** The library's signature over the sent headers: in virtual time its check of the age cannot succeed. */
function isSigned({ body, headers }: Received, { secret }: TestWebhook): boolean {
  const at = new Date(Number(headers['webhook-timestamp']) * 1_000);
  return headers['webhook-signature'] === new Webhook(secret).sign(headers['webhook-id'] ?? '', at, body);
}

/** A minimum; more rounds follow until the senders have crashed at every point. */
const matchesMin = 400;
const poison = new Set([100, 101, 333]);

interface ChaosResult {
  readonly kills: Map<CheckpointLabel, number>;
  readonly webhooks: Record<string, { webhook: TestWebhook; accepted: Received[] }>;
  readonly parked: string[];
}

/** Stores matches, kills the senders again and again, moves the time, and finally lets one finish. */
async function chaos(world: WebhookWorld, database: Database): Promise<ChaosResult> {
  const random = seededRandom(seed);
  const state = { gone: true };
  const inboxes = endpointsOf(random, state);
  await using stack = new AsyncDisposableStack();
  const webhooks: ChaosResult['webhooks'] = {};
  for (const [name, { handler, accepted }] of Object.entries(inboxes)) {
    const endpoint = stack.use(await startEndpoint(handler));
    webhooks[name] = { webhook: await world.createWebhook(endpoint.url), accepted };
  }
  const kills = new Map<CheckpointLabel, number>();
  for (let stored = 0; stored < matchesMin || kills.size < deliveryCheckpoints.length; ) {
    const batch = Math.floor(random() * 60);
    const texts = Array.from({ length: batch }, (_, i) =>
      poison.has(stored + i) ? 'poison' : `post ${stored + i}`,
    );
    if (batch > 0) await world.storeMatches(texts);
    stored += batch;
    const node = mortal(() => random() < 0.05);
    const senders = world.startSender({
      checkpoint: (label) => node.checkpoint(label),
      store: (store) => node.store(store),
    });
    const label = await Promise.race([node.died, sleep(500, null)]);
    if (label !== null) kills.set(label, (kills.get(label) ?? 0) + 1);
    await senders[Symbol.asyncDispose]();
    // A minute passes: the claims of crashed senders expire, and some waits end.
    await database.run(`update webhooks set lease_until = '-infinity'`);
    await world.clock.pass(60_000);
    await enableAll(world);
  }
  state.gone = false;
  await deliverRemaining(world, database);
  const parked = await world.deliveries(webhooks['picky']?.webhook.id ?? '', 'parked');
  return { kills, webhooks, parked: parked.map((one) => one.first_match_id ?? '').toSorted() };
}

async function enableAll(world: WebhookWorld): Promise<void> {
  for (const { id, state } of await world.webhooks.list('acc_1')) {
    if (state === 'disabled')
      await world.webhooks.update(world.change('UpdateWebhook'), id, { state: 'active' });
  }
}

async function deliverRemaining(world: WebhookWorld, database: Database): Promise<void> {
  await enableAll(world);
  await using _sender = world.startSender();
  await eventually(
    async () => {
      const behind = await database.many<{ due_in_ms: number }>(
        `select extract(epoch from next_attempt_at - now())::float8 * 1000 as due_in_ms, state, failures, position
         from webhooks where position < (select last_position from match_log)`,
      );
      // Jumps to the next attempt, which may be hours away; not during an attempt, whose claim would expire.
      const dueInMs = Math.min(...behind.map((one) => one.due_in_ms));
      if (behind.length > 0 && dueInMs > 0) await world.clock.pass(dueInMs);
      expect(behind).toEqual([]);
    },
    { ...within, intervalMs: 50 },
  );
}

/** In the order of the first acceptance. */
const acceptedIds = (accepted: readonly Received[]) => [...new Set(accepted.flatMap(matchIdsOf))];

/** Matches that were accepted under two ids, and ids with two bodies. */
function conflicting(accepted: readonly Received[]): string[] {
  const bodies = new Map<string, Set<string>>();
  const ids = new Map<string, Set<string>>();
  for (const one of accepted) {
    const id = one.headers['webhook-id'] ?? '';
    bodies.set(id, (bodies.get(id) ?? new Set()).add(one.body));
    for (const match of matchIdsOf(one)) ids.set(match, (ids.get(match) ?? new Set()).add(id));
  }
  return [...bodies, ...ids].filter(([, found]) => found.size > 1).map(([name]) => name);
}

describe('senders that are killed again and again', () => {
  test(`every match is delivered in order or listed as parked (seed ${seed})`, () =>
    withWebhookWorld(async (world, database) => {
      const { kills, webhooks, parked } = await chaos(world, database);
      process.stdout.write(`seed ${seed}, kills ${JSON.stringify([...kills])}\n`);
      // Control: the faults fired, at every labelled point.
      expect([...kills.keys()].toSorted()).toEqual([...deliveryCheckpoints].toSorted());
      const rows = await database.many<{ position: number }>(
        'select position from matches order by position',
      );
      const all = rows.map(({ position }) => `mat_${position.toString(36).padStart(12, '0')}`);
      expect(all.length).toBeGreaterThanOrEqual(matchesMin);
      const poisonous = all.filter((_, index) => poison.has(index));
      for (const [name, { webhook, accepted }] of Object.entries(webhooks)) {
        const expected = name === 'picky' ? all.filter((id) => !poisonous.includes(id)) : all;
        expect({ name, ids: acceptedIds(accepted) }).toEqual({ name, ids: expected });
        expect(accepted.every((one) => isSigned(one, webhook))).toBe(true);
      }
      expect(parked).toEqual(poisonous);
      expect(repeated(webhooks['forgetful']?.accepted ?? [])).toBeGreaterThan(0);
      for (const name of ['steady', 'flapping', 'slow', 'limited', 'forgetful', 'gone', 'picky'])
        expect(conflicting(webhooks[name]?.accepted ?? [])).toEqual([]);
    }));

  function repeated(accepted: readonly Received[]): number {
    return accepted.flatMap(matchIdsOf).length - acceptedIds(accepted).length;
  }
});

describe('a sender that is killed between sending and recording, with another match before the next attempt', () => {
  /** The accepted messages: the first match from the killed sender, and what the next one sends. */
  async function acceptedAfterKill(wrap: (store: DeliveryStore) => DeliveryStore): Promise<Received[]> {
    await using clone = await migratedTemplate().clone();
    await using database = openTestDatabase(clone.url, 16);
    await seedRules(database, 1);
    const world = createWebhookWorld(database);
    await using endpoint = await startEndpoint();
    await world.createWebhook(endpoint.url);
    await world.storeMatches(['a']);
    const node = mortal((label) => label === 'deliver.sent');
    {
      await using _sender = world.startSender({
        checkpoint: (label) => node.checkpoint(label),
        store: (store) => node.store(wrap(store)),
      });
      expect(await node.died).toBe('deliver.sent');
    }
    expect(endpoint.received).toHaveLength(1);
    await world.storeMatches(['b']);
    await database.run(`update webhooks set lease_until = '-infinity'`);
    await using _sender = world.startSender({ store: wrap });
    await eventually(
      () => expect(endpoint.received.some(({ body }) => body.includes('"b"'))).toBe(true),
      within,
    );
    return endpoint.received;
  }

  test('sends the same bytes under the same id again, and then the other match', async () => {
    const [first, again, other, ...more] = await acceptedAfterKill((store) => store);
    expect(more).toEqual([]);
    expect(again?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(again?.body).toBe(first?.body);
    expect(other?.headers['webhook-id']).not.toBe(first?.headers['webhook-id']);
    expect(conflicting([first, again, other].filter((one) => one !== undefined))).toEqual([]);
  });

  test('control: without the stored batch, the repeated match has another id', async () => {
    const accepted = await acceptedAfterKill((store) => ({ ...store, begin: async () => true }));
    expect(conflicting(accepted)).toEqual(accepted.slice(0, 1).flatMap(matchIdsOf));
  });
});

test('a hundred failing endpoints do not keep the senders from a healthy one', () =>
  withWebhookWorld(async (world, database) => {
    await using dead = await startEndpoint(() => undefined);
    await using healthy = await startEndpoint();
    await world.createMany(dead.url, 100);
    await database.run(`update webhooks set troubled = true`);
    await world.storeMatches(['a']);
    const timeoutMs = 4_000;
    await using _sender = world.startSender({ timeoutMs });
    await eventually(() => expect(dead.received.length).toBeGreaterThanOrEqual(16), within);
    await world.createWebhook(healthy.url);
    const startedAt = performance.now();
    await world.storeMatches(['b']);
    await eventually(() => expect(healthy.received).toHaveLength(1), within);
    expect(performance.now() - startedAt).toBeLessThan(timeoutMs / 2);
    expect(dead.received.length).toBeLessThan(64);
  }));
