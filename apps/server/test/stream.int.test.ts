import { errorSchema, operations } from '@earshot/contract';
import { eventually, migratedTemplate, type SseEvent } from '@earshot/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createRuleStore } from '../src/rules/rule-store.sql.ts';
import { type ReaderApi, type ReaderWorld, type StreamOptions, startReaderWorld } from './reader-world.ts';

const template = migratedTemplate();
let world: ReaderWorld;
let api: ReaderApi;
let key: string;
let keyId: string;
let stack: AsyncDisposableStack;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  world = stack.use(await startReaderWorld(template, { rules: 3 }));
  api = stack.use(await world.startApi({ EARSHOT_TEST: 'streamsPerKeyMax=3' }));
  ({ key, keyId } = await world.newKey());
});
afterEach(() => stack.disposeAsync());

/** A stream that is open: its first event has arrived. */
async function open(options: Partial<StreamOptions> & { key?: string; on?: ReaderApi } = {}) {
  const events: SseEvent[] = [];
  const connection = (options.on ?? api).stream(options.key ?? key, {
    ...options,
    onEvent: (event) => events.push(event),
  });
  stack.defer(() => connection.cut());
  const head = await connection.opened;
  await eventually(() => events.length > 0, { timeoutMs: 20_000 });
  const matches = () => events.filter(({ event }) => event === 'match');
  const rules = () => matches().map(({ data }) => String(JSON.parse(data).rule_id));
  /** The rules of the matches that arrived, once there are so many. */
  const untilReceived = (count: number) =>
    eventually(() => rules().length >= count && rules(), { timeoutMs: 20_000 });
  return { connection, head, events, rules, untilReceived, lastId: () => events.at(-1)?.id ?? '' };
}

const soon = { timeoutMs: 100_000 };

describe('a stream of matches', () => {
  test('begins now, has every match in the format of POST /matches, and is not cached by proxies', async () => {
    await world.write([1]);
    const stream = await open();
    expect(stream.head).toMatchObject({
      status: 200,
      headers: {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
        connection: 'close',
      },
    });
    expect(stream.head.headers).not.toHaveProperty('transfer-encoding');
    await world.write([2, 3]);
    expect(await stream.untilReceived(2)).toEqual(['rule_2', 'rule_3']);
    const { json } = await api.call(key, '/matches', { order: 'oldest' });
    const listed = operations.ListMatches.answer.parse(json).matches;
    const streamed = stream.events.slice(1).map(({ data }) => JSON.parse(data));
    expect(streamed).toEqual(listed.slice(1));
  });

  test('leaves out muted matches, waits for verdicts, and counts what it left out', async () => {
    await world.database.run(
      `insert into mutes (id, account_id, rule_id, field, value) values ('mut_1', 'acc_1', 'rule_1', 'phrase', ' post ')`,
    );
    await world.database.run(
      `update rules set judged_position = 0, relevance = '{"judge":true,"accept_unproven":true}' where id = 'rule_2'`,
    );
    const judge = { EARSHOT_JUDGE_URL: 'http://127.0.0.1:1', EARSHOT_JUDGE_MODEL: 'none' };
    const on = stack.use(await world.startApi(judge));
    const [all, filtered] = [await open({ on }), await open({ on, query: '?relevance=relevant' })];
    await world.write([1, 3]);
    expect(await all.untilReceived(1)).toEqual(['rule_3']);
    await world.write([2, 2, 1, 3]);
    expect(await all.untilReceived(4)).toEqual(['rule_3', 'rule_2', 'rule_2', 'rule_3']);
    expect(await filtered.untilReceived(1)).toEqual(['rule_3']);
    const verdicts = ['not_relevant', 'relevant'];
    await world.database.run(
      `insert into match_relevance (position, account_id, rule_id, platform, event_day, verdict)
       select position, account_id, rule_id, platform, event_day, ($1::text[])[row_number() over (order by position)]
       from matches where rule_id = 'rule_2'`,
      [verdicts],
    );
    expect(await filtered.untilReceived(3)).toEqual(['rule_3', 'rule_2', 'rule_3']);
    const counts = filtered.events.flatMap(({ event, data }) =>
      event === 'hidden' ? [JSON.parse(data)] : [],
    );
    const sum = (name: string) => counts.reduce((total, one) => total + one[name], 0);
    expect([sum('muted'), sum('not_relevant')]).toEqual([2, 1]);
    // The cursor of a list with the same filter is one of the stream, and no other.
    const { json } = await on.call(key, '/matches', { order: 'oldest', relevance: 'relevant' });
    const { next_cursor } = operations.ListMatches.answer.parse(json);
    const fromList = await open({ on, query: `?relevance=relevant&cursor=${next_cursor}` });
    const unfiltered = on.stream(key, { query: `?cursor=${next_cursor}`, onEvent: () => {} });
    expect((await unfiltered.opened).status).toBe(400);
    // A client that continues behind a `hidden` event misses nothing and gets nothing again.
    const hiddenId = filtered.events.findLast(({ event }) => event === 'hidden')?.id ?? '';
    const again = await open({ on, query: '?relevance=relevant', lastEventId: hiddenId });
    const later = filtered.events.slice(filtered.events.findLastIndex(({ event }) => event === 'hidden') + 1);
    await world.write([3]);
    await again.untilReceived(later.length + 1);
    expect(again.rules()).toHaveLength(later.length + 1);
    expect(await fromList.untilReceived(1)).toEqual(['rule_3']);
  });

  test('continues behind Last-Event-ID, or behind a cursor of a list, whatever arrived meanwhile', async () => {
    const first = await open();
    await world.write([1]);
    expect(await first.untilReceived(1)).toEqual(['rule_1']);
    first.connection.cut();
    await world.write([2]);
    const again = await open({ lastEventId: first.lastId() });
    await world.write([3]);
    expect(await again.untilReceived(2)).toEqual(['rule_2', 'rule_3']);

    const { json } = await api.call(key, '/matches', { order: 'oldest', limit: 2 });
    const { next_cursor } = operations.ListMatches.answer.parse(json);
    const fromList = await open({ query: `?cursor=${next_cursor}` });
    expect(await fromList.untilReceived(1)).toEqual(['rule_3']);
    again.connection.cut();
    // A browser sends its first address again, and the header takes precedence.
    const browser = await open({ query: `?cursor=${next_cursor}`, lastEventId: again.lastId() });
    await world.write([1]);
    expect(await browser.untilReceived(1)).toEqual(['rule_1']);
  });

  test('that was cut off before its first match misses none', async () => {
    const first = await open();
    first.connection.cut();
    await world.write([1]);
    expect(await (await open({ lastEventId: first.lastId() })).untilReceived(1)).toEqual(['rule_1']);
  });

  test('has only the matches of its filter', async () => {
    const ofRule = await open({ query: '?rule_id=rule_2' });
    const onX = await open({ query: '?platform=x' });
    const onFirehose = await open({ query: '?rule_id=rule_2&platform=firehose' });
    await world.write([1, 2, 3, 2]);
    expect(await onX.untilReceived(4)).toEqual(['rule_1', 'rule_2', 'rule_3', 'rule_2']);
    expect(await ofRule.untilReceived(2)).toEqual(['rule_2', 'rule_2']);
    expect(onFirehose.rules()).toEqual([]);
  });

  test('has no match of another account, and none of a deleted rule', async () => {
    await world.database.run(`insert into accounts (id, name, plan) values ('acc_2', 'two', 'paid')`);
    const other = await open({ key: (await world.newKey('acc_2')).key });
    const own = await open();
    const change = {
      accountId: 'acc_1',
      actor: 'key_1',
      operation: 'DeleteRule',
      requestId: null,
      claim: null,
    };
    await createRuleStore(world.database).delete(change, 'rule_2');
    await world.write([1, 2, 3]);
    expect(await own.untilReceived(2)).toEqual(['rule_1', 'rule_3']);
    expect(other.rules()).toEqual([]);
  });

  test('delivers a match without its wake-up, by polling', async () => {
    const stream = await open();
    await world.write([1], { silent: true });
    expect(await stream.untilReceived(1)).toEqual(['rule_1']);
  });
});

describe('a stream is refused as any request', () => {
  const refusal = async (options: { query?: string; lastEventId?: string }) => {
    const { status, body } = await api.stream(key, { ...options, onEvent: () => undefined }).opened;
    const { code, details } = errorSchema.parse(JSON.parse(body));
    return { status, code, fields: details.violations?.map(({ field }) => field) };
  };

  test('with an unknown rule, one of another account, a foreign cursor or an unknown parameter', async () => {
    await world.database.run(`insert into accounts (id, name, plan) values ('acc_2', 'two', 'paid')`);
    await world.database.run(
      `insert into rules (id, account_id, name, intent, state) values ('rule_far', 'acc_2', 'n', 'i', 'active')`,
    );
    expect(await refusal({ query: '?rule_id=rule_none' })).toMatchObject({ status: 404, code: 'not_found' });
    expect(await refusal({ query: '?rule_id=rule_far' })).toMatchObject({ status: 404, code: 'not_found' });
    const ofAll = await open();
    const bad = { status: 400, code: 'invalid_argument' };
    expect(await refusal({ query: '?rule_id=rule_1', lastEventId: ofAll.lastId() })).toMatchObject(bad);
    expect(await refusal({ lastEventId: 'made-up' })).toMatchObject(bad);
    expect(await refusal({ query: '?rule=rule_1' })).toMatchObject({ ...bad, fields: ['rule'] });
  });

  test('if retention has removed matches behind its cursor, once', async () => {
    const first = await open({ query: '?rule_id=rule_1' });
    await world.write([1, 1, 2]);
    await first.untilReceived(2);
    await world.database.run(
      `insert into removed_matches (account_id, rule_id, platform, last_position) values ('acc_1', 'rule_1', 'x', 1)`,
    );
    const query = '?rule_id=rule_1';
    const [begin] = first.events;
    const { status, body } = await api.stream(key, {
      query,
      lastEventId: begin?.id ?? '',
      onEvent: () => undefined,
    }).opened;
    const { code, details } = errorSchema.parse(JSON.parse(body));
    expect({ status, code }).toEqual({ status: 400, code: 'out_of_range' });
    const again = await open({ query, lastEventId: details.oldest_cursor ?? '' });
    expect(await again.untilReceived(2)).toEqual(['rule_1', 'rule_1']);
    expect((await open({ query, lastEventId: first.lastId() })).head.status).toBe(200);
  });

  test('if the key has as many as it may, until one of them is closed', async () => {
    const first = await open();
    await open();
    await open();
    expect(await refusal({})).toMatchObject({ status: 429, code: 'resource_exhausted' });
    first.connection.cut();
    await eventually(async () => expect((await open()).head.status).toBe(200), soon);
  });
});

describe('a stream ends', () => {
  test('within 5 s after its key was revoked, while others of the account continue', async () => {
    const revoked = await open();
    const other = await open({ key: (await world.newKey()).key });
    await world.database.run('update api_keys set revoked_at = now() where id = $1', [keyId]);
    const revokedAt = performance.now();
    await revoked.connection.closed;
    expect(performance.now() - revokedAt).toBeLessThan(5_000);
    await world.write([1]);
    expect(await other.untilReceived(1)).toEqual(['rule_1']);
    expect(revoked.rules()).toEqual([]);
  });

  test('with its node, and does not delay the shutdown', async () => {
    const stream = await open();
    const startedAt = performance.now();
    await api[Symbol.asyncDispose]();
    await stream.connection.closed;
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });
});
