import { type Match, operations } from '@earshot/contract';
import { eventually, migratedTemplate, type SseEvent } from '@earshot/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Admin, openAdmin } from '../src/admin.ts';
import type { Database } from '../src/engines/database.ts';
import type { LogEvent } from '../src/event-log/event-log.ts';
import type { MatchProgress } from '../src/event-log/log-progress.ts';
import { createMatchStore } from '../src/matching/match-store.sql.ts';
import { removeExpiredDays } from '../src/matching/retention.ts';
import { createDeletions } from '../src/removals/deletions.ts';
import { recordTombstones } from '../src/removals/tombstones.sql.ts';
import { type ReaderApi, type ReaderWorld, startReaderWorld } from './reader-world.ts';
import { xEvent, xMatch } from './stream-events.ts';
import { silentTelemetry } from './support.ts';
import { type Received, startEndpoint } from './web-endpoint.ts';
import { createWebhookWorld } from './webhook-world.ts';

const template = migratedTemplate();
let stack: AsyncDisposableStack;
let world: ReaderWorld;
let admin: Admin;
let key: string;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  world = stack.use(await startReaderWorld(template, { rules: 3 }));
  const asOwner = new URL(world.databaseUrl);
  asOwner.searchParams.set('options', '-c role=earshot_owner');
  admin = stack.use(await openAdmin(asOwner.href));
  ({ key } = await world.newKey());
});
afterEach(() => stack.disposeAsync());

const soon = { timeoutMs: 60_000 };
const unwanted = 'the words that have to go';

function post(number: number, payload: Partial<LogEvent['payload']> = {}): LogEvent {
  const event = xEvent(number);
  return { ...event, payload: { ...event.payload, text: `post ${number}`, ...payload } };
}

const matchOf = (event: LogEvent, rule = 1) => xMatch(event, `rule_${rule}`);

/** As a match worker stores them: a match of each rule for each event. */
async function store(events: readonly LogEvent[], rules: readonly number[] = [1]) {
  const matches = events.flatMap((event) => rules.map((rule) => matchOf(event, rule)));
  const { counts } = await createMatchStore(world.database).write(events, matches, [], []);
  world.bells.ring('matches');
  return counts;
}

async function ask(api: ReaderApi, request: object) {
  const { json } = await api.call(key, '/matches', request);
  const { matches, removed = [], next_cursor: cursor } = operations.ListMatches.answer.parse(json);
  return { matches, removed, cursor };
}

async function read(api: ReaderApi, request: object) {
  const { json } = await api.call(key, '/api.ReadMatches', { start: 'oldest', ...request });
  const { matches, removed = [], cursor } = operations.ReadMatches.answer.parse(json);
  return { matches, removed, cursor };
}

const textsOf = (matches: ReadonlyArray<{ payload: { text: string | null } }>) =>
  matches.map(({ payload }) => payload.text);

/** The whole content of the database, table by table. */
async function tablesWith(text: string): Promise<string[]> {
  const tables = await world.database.many<{ name: string }>(
    `select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const row = await world.database.one<{ holds: boolean }>(
      `select exists (select 1 from ${name} as one where one::text like '%' || $1 || '%') as holds`,
      [text],
    );
    if (row?.holds) found.push(name);
  }
  return found;
}

/** Waits until a transaction that stores matches or adds tombstones is blocked. */
async function transactionWaits(): Promise<void> {
  const waiting = () =>
    world.database.one(
      `select 1 from pg_locks where relation = 'tombstones'::regclass and not granted
         and database = (select oid from pg_database where datname = current_database())`,
    );
  await eventually(async () => expect(await waiting()).not.toBeNull(), { timeoutMs: 15_000 });
}

async function collect(api: ReaderApi) {
  const events: SseEvent[] = [];
  const stream = api.stream(key, { onEvent: (event) => events.push(event) });
  stack.defer(() => stream.cut());
  await eventually(() => events.length > 0, soon);
  /** What arrived behind `open`: the text of a match, or the id that was removed. */
  return () =>
    events.slice(1).map(({ event, data }) => {
      const item = JSON.parse(data);
      return event === 'match' ? item.payload.text : `${event} ${item.match_id}`;
    });
}

interface Message {
  matches: Array<{ id: string; payload: { text: string } }>;
  removed?: Array<{ type: string; match_id: string; reason: string }>;
}
const messageOf = ({ body }: Received): Message => JSON.parse(body);

describe('a forgotten item', () => {
  test('is nowhere afterwards, and each follower is notified once, in order, and misses nothing else', async () => {
    const near = stack.use(await world.startApi());
    const far = stack.use(await world.startApi());
    const hooks = createWebhookWorld(world.database);
    let status = 500;
    await using endpoint = await startEndpoint(() => status);
    const hook = await hooks.createWebhook(endpoint.url);
    await using _sender = hooks.startSender();
    const streamed = await collect(near);
    const receivedFar = await collect(far);

    await store([post(1), post(2, { text: unwanted, raw: { data: { text: unwanted } } }), post(3)]);
    const before = await ask(far, { order: 'oldest' });
    const gone = before.matches[1]?.id ?? '';
    expect(textsOf(before.matches)).toEqual(['post 1', unwanted, 'post 3']);
    expect(textsOf((await read(near, { reader: 'report' })).matches)).toHaveLength(3);
    await eventually(async () => expect(await hooks.deliveries(hook.id)).toHaveLength(1), soon);
    expect(await tablesWith(unwanted)).toEqual(expect.arrayContaining(['webhook_batches']));
    await eventually(() => expect(streamed()).toHaveLength(3), soon);
    const polling = ask(far, { order: 'oldest', cursor: before.cursor, wait_seconds: 30 });

    expect(await admin.forget({ post: post(2).platformPostId })).toEqual({ items: 1, matches: 1 });

    expect(await tablesWith(unwanted)).toEqual([]);
    const polled = await polling;
    expect(polled).toMatchObject({
      matches: [],
      removed: [{ type: 'removed', match_id: gone, reason: 'forgotten' }],
    });
    await store([post(4)]);
    const rest = await ask(far, { order: 'oldest', cursor: polled.cursor, wait_seconds: 30 });
    expect([textsOf(rest.matches), rest.removed]).toEqual([['post 4'], []]);
    expect(textsOf((await ask(near, {})).matches)).toEqual(['post 4', 'post 3', 'post 1']);
    for (const received of [streamed, receivedFar]) {
      await eventually(() => expect(received()).toHaveLength(5), soon);
      expect(received()).toEqual(['post 1', unwanted, 'post 3', `removed ${gone}`, 'post 4']);
    }
    // A reader may have kept unacknowledged matches: it is notified as well.
    const again = await read(far, { reader: 'report' });
    expect(textsOf(again.matches)).toEqual(['post 1', 'post 3', 'post 4']);
    expect(again.removed.map(({ match_id }) => match_id)).toEqual([gone]);
    await near.call(key, '/api.AckMatches', { reader: 'report', cursor: again.cursor });
    expect(await read(far, { reader: 'report' })).toEqual({ matches: [], removed: [], cursor: null });

    const [first, sent] = [endpoint.received[0], endpoint.received.length];
    status = 200;
    await hooks.clock.pass(3_600_000);
    const later = () => endpoint.received.slice(sent).map(messageOf);
    await eventually(
      () => expect(textsOf(later().flatMap(({ matches }) => matches))).toContain('post 4'),
      soon,
    );
    expect(textsOf(later().flatMap(({ matches }) => matches))).toEqual(['post 1', 'post 3', 'post 4']);
    expect(later().flatMap(({ removed = [] }) => removed)).toEqual([
      expect.objectContaining({ type: 'removed', match_id: gone, reason: 'forgotten' }),
    ]);
    // A receiver that got the message the first time and knows its id has the rest of it.
    expect(endpoint.received[sent]?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  });

  test('is not stored again when it is redelivered; control: it is without the tombstone', async () => {
    const api = stack.use(await world.startApi());
    const again = post(1, { text: unwanted });
    await store([again, post(2)]);
    await admin.forget({ post: again.platformPostId });
    expect(await store([again, post(3)])).toEqual({ x: 1 });
    expect(textsOf((await ask(api, {})).matches)).toEqual(['post 3', 'post 2']);
    expect(await store([post(9, { edit_of: again.platformPostId })])).toEqual({});
    expect(await tablesWith(unwanted)).toEqual([]);
    // Control: the tombstone prevents it.
    await world.database.run('delete from tombstones');
    await store([again]);
    expect(textsOf((await ask(api, {})).matches)).toEqual([unwanted, 'post 3', 'post 2']);
  });

  test('is removed for every rule and account, and all other items stay', async () => {
    const api = stack.use(await world.startApi());
    await store([post(1, { text: unwanted }), post(2)], [1, 2, 3]);
    expect(await admin.forget({ post: post(1).platformPostId })).toEqual({ items: 1, matches: 3 });
    const { matches, removed } = await ask(api, { order: 'oldest' });
    expect([textsOf(matches), removed.length]).toEqual([['post 2', 'post 2', 'post 2'], 3]);
    const ofRule = await ask(api, { order: 'oldest', rule_id: 'rule_2' });
    expect(ofRule.removed).toEqual([removed[1]]);
    expect((await ask(api, { order: 'oldest', platform: 'firehose' })).removed).toEqual([]);
  });

  test("is found by its URL, by its author's id and by a handle, even a former one of the author", async () => {
    const api = stack.use(await world.startApi());
    const author = (id: string, handle: string) => ({ author: { id, name: null, handle } });
    const old = { published_at: '2026-01-01T00:00:00.000Z' };
    await store([
      post(1, { url: 'https://example.com/a?b="c"' }),
      post(2, { ...author('77', 'Before'), ...old }),
      post(3, { ...author('77', 'Ferris'), ...old }),
      post(4, { ...author('78', 'other'), text: 'Ferris said 77', ...old }),
      post(5, { ...author('79', '77'), ...old }),
    ]);
    expect(await admin.forget({ url: 'https://example.com/a?b="c"' })).toMatchObject({ items: 1 });
    expect(await admin.forget({ author: '@ferris' })).toMatchObject({ items: 2, matches: 2 });
    expect(await admin.forget({ author: '77' })).toMatchObject({ items: 0 });
    expect(textsOf((await ask(api, { order: 'oldest' })).matches)).toEqual(['Ferris said 77', 'post 5']);
    // Events that wait in the event log were published before; an author may publish again.
    const later = new Date(Date.now() + 60_000).toISOString();
    expect(await store([post(6, { ...author('77', 'new'), ...old })])).toEqual({});
    expect(await store([post(7, { ...author('77', 'new'), published_at: later })])).toEqual({ x: 1 });
  });

  test('is reported for as long as matches are kept; a follower that was away for longer learns that it missed something', async () => {
    const api = stack.use(await world.startApi());
    await store([post(1), post(2)]);
    const { cursor } = await ask(api, { order: 'oldest' });
    await admin.forget({ post: post(1).platformPostId });
    const keep = (retentionDays: number) =>
      removeExpiredDays({
        database: world.database,
        retentionDays,
        telemetry: { dayRemoved: () => undefined },
      });
    await world.database.run(`update removals set created_at = now() - interval '20 days'`);
    await keep(30);
    expect((await ask(api, { order: 'oldest', cursor })).removed).toHaveLength(1);
    await keep(10);
    const { json } = await api.call(key, '/matches', { order: 'oldest', cursor });
    expect(json).toMatchObject({ code: 'out_of_range', details: { reason: 'retention' } });
  });

  test('is not kept as a dead letter, neither before nor after', async () => {
    const broken = post(1, { text: unwanted });
    const letter = { sequence: 1, settled: [1], error: 'refused', deliveries: 5, loggedAt: null };
    const matches = createMatchStore(world.database);
    await matches.writeDeadLetter({ ...letter, event: broken, body: JSON.stringify(broken) });
    await matches.writeDeadLetter({ ...letter, event: post(2), body: JSON.stringify(post(2)) });
    await admin.forget({ post: broken.platformPostId });
    await matches.writeDeadLetter({ ...letter, event: broken, body: JSON.stringify(broken) });
    expect(await tablesWith(unwanted)).toEqual([]);
    expect(await admin.listDeadLetters()).toHaveLength(1);
  });
});

describe('an item is forgotten while', () => {
  test('it is being stored, waits for that and removes it', async () => {
    const storing = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const writing = world.write([1], {
      beforeCommit: () => {
        begun.resolve();
        return storing.promise;
      },
    });
    await begun.promise;
    const forgetting = admin.forget({ post: xEvent(0).platformPostId });
    await transactionWaits().finally(storing.resolve);
    await writing;
    expect(await forgetting).toEqual({ items: 1, matches: 1 });
  });

  test('the platform delivers it again: it is not stored, although its storing had begun', async () => {
    const again = post(1, { text: unwanted });
    const name = { kind: 'item' as const, value: again.platformPostId };
    const committing = Promise.withResolvers<void>();
    const recorded = Promise.withResolvers<void>();
    const slow: Database = {
      ...world.database,
      transaction: (work) =>
        world.database.transaction(async (sql) => {
          const result = await work(sql);
          recorded.resolve();
          await committing.promise;
          return result;
        }),
    };
    const recording = recordTombstones(slow, [name], { on: ['x'], reason: 'forgotten' });
    await recorded.promise;
    const storing = store([again, post(2)]);
    await transactionWaits().finally(committing.resolve);
    await recording;
    expect(await storing).toEqual({ x: 1 });
    expect(await tablesWith(unwanted)).toEqual([]);
  });

  test('a batch with it is made for a webhook: that batch is not stored', async () => {
    const hooks = createWebhookWorld(world.database);
    await using endpoint = await startEndpoint();
    await hooks.createWebhook(endpoint.url);
    let isForgotten = false;
    await store([post(1), post(2, { text: unwanted })]);
    await using _sender = hooks.startSender({
      store: (deliveries) => ({
        ...deliveries,
        async begin(...batch) {
          if (!isForgotten) await admin.forget({ post: post(2).platformPostId });
          isForgotten = true;
          return await deliveries.begin(...batch);
        },
      }),
    });
    const sent = () => endpoint.received.map(messageOf);
    await eventually(() => expect(sent().flatMap(({ removed = [] }) => removed)).toHaveLength(1), soon);
    expect(textsOf(sent().flatMap(({ matches }) => matches))).toEqual(['post 1']);
  });

  test('others store matches all the time: every other match reaches a follower, once and in order', async () => {
    const api = stack.use(await world.startApi());
    const numbers = Array.from({ length: 80 }, (_, number) => number);
    const isUnwanted = (number: number) => number % 8 === 0;
    const stored = new Set<number>();
    const write = async (writer: number) => {
      for (const number of numbers.filter((one) => one % 4 === writer)) {
        await store([post(number)], [1, 2]);
        stored.add(number);
      }
    };
    const remove = async () => {
      for (const number of numbers.filter(isUnwanted)) {
        await eventually(() => expect(stored.has(number)).toBe(true), soon);
        expect(await admin.forget({ post: post(number).platformPostId })).toEqual({ items: 1, matches: 2 });
      }
    };
    const matches: Match[] = [];
    const removed: string[] = [];
    let isOver = false;
    const follow = async () => {
      for (let cursor: string | null = null; ; ) {
        // A page that was requested before the end may miss matches that arrived while it waited.
        const isLast = isOver;
        const page = await ask(api, {
          order: 'oldest',
          limit: 10,
          wait_seconds: 1,
          ...(cursor && { cursor }),
        });
        matches.push(...page.matches);
        removed.push(...page.removed.map(({ match_id }) => match_id));
        cursor = page.cursor;
        if (isLast && page.matches.length + page.removed.length === 0) return;
      }
    };
    const following = follow();
    await Promise.all([remove(), ...[0, 1, 2, 3].map(write)]);
    isOver = true;
    await following;

    const ids = matches.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].toSorted());
    const isGone = new Set(removed);
    expect(isGone.size).toBe(removed.length);
    expect(isGone.size).toBe(20);
    const left = textsOf(matches.filter(({ id }) => !isGone.has(id))).map(String);
    const wanted = numbers.filter((number) => !isUnwanted(number)).map((number) => `post ${number}`);
    expect(left.toSorted()).toEqual([...wanted, ...wanted].toSorted());
  });

  test("it is one of an author's thousands: a follower is notified page by page", async () => {
    const api = stack.use(await world.startApi());
    const by = { author: { id: '77', name: null, handle: 'ferris' } };
    for (let from = 0; from < 2_500; from += 500)
      await store(Array.from({ length: 500 }, (_, n) => post(10_000 + from + n, by)));
    await store([post(1)]);
    const begun = await ask(api, { order: 'oldest', limit: 2 });
    expect(await admin.forget({ author: '77' })).toEqual({ items: 2_500, matches: 2_500 });
    await store([post(2)]);
    const [matches, removed] = [begun.matches.slice(0, 0), begun.removed];
    for (let { cursor } = begun; ; ) {
      const page = await ask(api, { order: 'oldest', cursor, limit: 100 });
      matches.push(...page.matches);
      removed.push(...page.removed);
      cursor = page.cursor;
      if (page.matches.length === 0 && page.removed.length === 0) break;
    }
    expect(textsOf(matches)).toEqual(['post 1', 'post 2']);
    const ids = removed.map(({ match_id }) => match_id);
    expect(new Set(ids).size).toBe(2_500);
    expect(ids).toEqual(ids.toSorted());
    expect(removed.slice(0, 2).map(({ match_id }) => match_id)).toEqual(begun.matches.map(({ id }) => id));
  });
});

describe('an item that its author deletes', () => {
  const settled: MatchProgress = { logged: async () => 7, matched: async () => 7 };

  function deletionsWith(progress = settled) {
    return createDeletions({
      database: world.database,
      platform: 'x',
      bells: world.bells,
      telemetry: silentTelemetry(),
      progress,
    });
  }

  async function remove(deletions: ReturnType<typeof createDeletions>, event: LogEvent): Promise<void> {
    const removed = deletions.remove(event);
    await deletions.flush();
    await removed;
  }

  const tombstones = async () =>
    (await world.database.many<{ value: string }>('select value from tombstones')).map(({ value }) => value);

  test('is removed if it is stored, with its matches; another one leaves nothing behind', async () => {
    const api = stack.use(await world.startApi());
    const [gone, stays, other] = [post(1, { text: unwanted }), post(2), post(3)];
    await store([gone, stays], [1, 2]);
    const before = await ask(api, { order: 'oldest' });
    const deletions = deletionsWith();
    await remove(deletions, gone);
    await remove(deletions, other);
    expect(textsOf((await ask(api, {})).matches)).toEqual(['post 2', 'post 2']);
    const { removed } = await ask(api, { order: 'oldest', cursor: before.cursor });
    expect(removed.map(({ reason }) => reason)).toEqual(['deleted', 'deleted']);
    expect(await tombstones()).toEqual([gone.platformPostId]);
  });

  test('is not stored afterwards if it was on its way', async () => {
    const deletions = deletionsWith();
    const onItsWay = post(1);
    deletions.appended(onItsWay.key);
    await remove(deletions, onItsWay);
    expect(await store([onItsWay, post(2)])).toEqual({ x: 1 });
  });

  test('is not stored afterwards if another process may have left it in the log', async () => {
    let matched = 3;
    const deletions = deletionsWith({ logged: async () => 7, matched: async () => matched });
    const [inLog, later] = [post(1), post(2)];
    await remove(deletions, inLog);
    matched = 7;
    await remove(deletions, later);
    expect(await tombstones()).toEqual([inLog.platformPostId]);
    expect(await store([inLog])).toEqual({});
  });

  test('stays pending while the database is down', async () => {
    const gone = post(1);
    await store([gone]);
    let isDown = true;
    const many: Database['many'] = async (...given) => {
      if (isDown) throw new Error('the database is down');
      return await world.database.many(...given);
    };
    const database: Database = { ...world.database, many };
    const deletions = createDeletions({
      database,
      platform: 'x',
      bells: world.bells,
      telemetry: silentTelemetry(),
      progress: settled,
    });
    let isRemoved = false;
    const removed = deletions.remove(gone).then(() => (isRemoved = true));
    await expect(deletions.flush()).rejects.toThrow('the database is down');
    expect(isRemoved).toBe(false);
    isDown = false;
    await deletions.flush();
    await removed;
    expect(await tombstones()).toEqual([gone.platformPostId]);
  });
});
