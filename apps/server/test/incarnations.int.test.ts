import { errorSchema, operations } from '@earshot/contract';
import { eventually, type SseEvent, type Template } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSettledStore } from '../src/matching/check-log.ts';
import { type ReaderApi, type ReaderWorld, startReaderWorld } from './reader-world.ts';
import { createMigratedTemplate } from './support.ts';

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template[Symbol.asyncDispose]());

const soon = { timeoutMs: 10_000, intervalMs: 20 };

interface Opened extends AsyncDisposable {
  readonly world: ReaderWorld;
  readonly api: ReaderApi;
  readonly key: string;
}

async function open(): Promise<Opened> {
  await using stack = new AsyncDisposableStack();
  const world = stack.use(await startReaderWorld(template, { rules: 3 }));
  const api = stack.use(await world.startApi());
  const { key } = await world.newKey();
  const running = stack.move();
  return { world, api, key, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** As after a restore: matches after the position are gone, and another server wrote the row last. */
async function goBack({ database }: ReaderWorld, position: number, server = 'another'): Promise<void> {
  await database.run('delete from matches where position > $1', [position]);
  await database.run(
    `update match_log set last_position = $1, server = case $2 when 'this' then this_server() else $2 end`,
    [position, server],
  );
  await database.run(`select setval('match_positions', $1), setval('match_jump', 1)`, [position]);
}

async function list({ api, key }: Opened, request: object) {
  const { status, json } = await api.call(key, '/matches', { order: 'oldest', ...request });
  if (status !== 200) return { refused: errorSchema.parse(json), ids: [], rules: [], cursor: null };
  const { matches, next_cursor } = operations.ListMatches.answer.parse(json);
  const ids = matches.map(({ id }) => id);
  return { refused: null, ids, rules: matches.map(({ rule_id }) => rule_id), cursor: next_cursor };
}

describe('a match log that was restored', () => {
  test('assigns no id twice, and refuses the follower that was ahead with the cursor to continue from', async () => {
    await using opened = await open();
    const { world } = opened;
    await world.write([1, 2, 3, 1, 2]);
    const behind = await list(opened, { limit: 2 });
    const ahead = await list(opened, {});
    await goBack(world, 3);
    await world.write([3, 3]);
    const stale = await list(opened, { cursor: ahead.cursor });
    expect(stale.refused).toMatchObject({ code: 'out_of_range', details: { reason: 'restored' } });
    const again = await list(opened, { cursor: stale.refused?.details.oldest_cursor });
    expect(again.rules).toEqual(['rule_3', 'rule_3']);
    expect(ahead.ids).not.toContain(again.ids[0]);
    expect(ahead.ids).not.toContain(again.ids[1]);
    // A reader that had read nothing of the lost part needs no notification.
    expect((await list(opened, { cursor: behind.cursor })).rules).toEqual(['rule_3', 'rule_3', 'rule_3']);
    expect((await list(opened, { cursor: again.cursor })).refused).toBeNull();
  });

  test('control: if the server seems to be the same, ids name two matches', async () => {
    await using opened = await open();
    const { world } = opened;
    await world.write([1, 2, 3, 1, 2]);
    const before = await list(opened, {});
    await goBack(world, 3, 'this');
    await world.write([3, 3]);
    const after = await list(opened, {});
    expect(after.ids).toEqual(before.ids);
    expect(after.rules).not.toEqual(before.rules);
  });

  test('and restored again to the same state assigns no id twice', async () => {
    await using opened = await open();
    const { world } = opened;
    await world.write([1]);
    const seen: string[] = [];
    for (const rule of [2, 3]) {
      await goBack(world, 1);
      await world.write([rule]);
      seen.push(...(await list(opened, {})).ids.slice(1));
    }
    expect(new Set(seen).size).toBe(2);
  });

  test('from a dump on the same server assigns no id twice either', async () => {
    await using opened = await open();
    const { world } = opened;
    await world.write([1, 2]);
    const before = await list(opened, {});
    await goBack(world, 1, 'this');
    for (const statement of [
      'alter table match_log rename to dumped',
      'create table match_log (like dumped including all)',
      'insert into match_log select * from dumped',
      `do $$ begin
         execute format('alter table match_log owner to %I', (select tableowner from pg_tables where tablename = 'dumped'));
       end $$`,
    ])
      await world.database.run(statement);
    await world.write([3]);
    expect(before.ids).not.toContain((await list(opened, {})).ids[1]);
  });

  test('ends the streams that were ahead of it; their next connection is refused', async () => {
    await using opened = await open();
    const { world, api, key } = opened;
    const events: SseEvent[] = [];
    const stream = api.stream(key, { onEvent: (event) => events.push(event) });
    await eventually(() => events.length > 0, soon);
    await world.write([1, 2]);
    await eventually(() => events.length === 3, soon);
    await goBack(world, 1);
    await world.write([3]);
    await stream.closed;
    const lastEventId = events.at(-1)?.id ?? '';
    const refused = await fetch(`${api.url}/matches/stream`, {
      headers: { authorization: `Bearer ${key}`, 'last-event-id': lastEventId },
    });
    expect(await refused.json()).toMatchObject({ code: 'out_of_range', details: { reason: 'restored' } });
  });

  test("refuses a named reader's acknowledgement of lost matches; the reader then continues from its previous place", async () => {
    await using opened = await open();
    const { world, api, key } = opened;
    const read = async () =>
      operations.ReadMatches.answer.parse(
        (await api.call(key, '/api.ReadMatches', { start: 'oldest', reader: 'r' })).json,
      );
    await world.write([1, 2, 3]);
    const { cursor } = await read();
    await goBack(world, 1);
    await world.write([3]);
    const { json } = await api.call(key, '/api.AckMatches', { reader: 'r', cursor });
    expect(json).toMatchObject({ code: 'out_of_range', details: { reason: 'restored' } });
    expect((await read()).matches.map(({ rule_id }) => rule_id)).toEqual(['rule_1', 'rule_3']);
  });

  test('refuses a named reader also before new matches: otherwise it would wait behind the skipped ids', async () => {
    await using opened = await open();
    const { world, api, key } = opened;
    const read = async () =>
      operations.ReadMatches.answer.parse(
        (await api.call(key, '/api.ReadMatches', { start: 'oldest', reader: 'r' })).json,
      );
    const ack = async (cursor: unknown) =>
      (await api.call(key, '/api.AckMatches', { reader: 'r', cursor })).json;
    await world.write([1, 2, 3]);
    const { cursor } = await read();
    await goBack(world, 1);
    expect(await ack(cursor)).toMatchObject({ code: 'out_of_range', details: { reason: 'restored' } });
    await world.write([3]);
    const again = await read();
    expect(again.matches.map(({ rule_id }) => rule_id)).toEqual(['rule_1', 'rule_3']);
    expect(await ack(again.cursor)).toMatchObject({ moved: true });
  });

  test('reports no damaged copy of the event log, not even behind an event that waited for its acknowledgement', async () => {
    await using opened = await open();
    const { database } = opened.world;
    const settled = createSettledStore(database);
    await settled.begin({ settledThrough: 2, deliveredThrough: 9 });
    await database.run(`update log_check set server = 'another'`);
    expect(await settled.begin({ settledThrough: 3, deliveredThrough: 9 })).toEqual({
      from: 2,
      forgottenThrough: 9,
    });
  });
});
