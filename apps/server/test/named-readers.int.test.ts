import { errorSchema, operations } from '@earshot/contract';
import { eventually, migratedTemplate } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRuleStore } from '../src/rules/rule-store.sql.ts';
import { type ReaderApi, type ReaderWorld, startReaderWorld } from './reader-world.ts';

let world: ReaderWorld;
let api: ReaderApi;
let key: string;
let foreignKey: string;
const stack = new AsyncDisposableStack();
const soon = { timeoutMs: 20_000 };

beforeAll(async () => {
  world = stack.use(await startReaderWorld(migratedTemplate(), { rules: 5 }));
  await world.database.run(`insert into accounts (id, name, plan) values ('acc_2', 'two', 'free')`);
  await world.database.run(`update plans set readers = 2 where name = 'free'`);
  api = stack.use(await world.startApi());
  ({ key } = await world.newKey());
  foreignKey = (await world.newKey('acc_2')).key;
  await world.write([1, 2, 3]);
});
afterAll(() => stack.disposeAsync());

async function read(request: object, as = key) {
  const { status, json } = await api.call(as, '/api.ReadMatches', { start: 'oldest', ...request });
  if (status !== 200) return { refused: errorSchema.parse(json), rules: [], cursor: null };
  const { matches, cursor } = operations.ReadMatches.answer.parse(json);
  return { refused: null, rules: matches.map(({ rule_id }) => rule_id), cursor };
}

async function ask(path: string, request: object, as = key) {
  const { json } = await api.call(as, `/api.${path}`, request);
  return json;
}

const ack = (reader: string, cursor: string | null, more: object = {}) =>
  ask('AckMatches', { reader, cursor: cursor ?? '', ...more });

test('unacknowledged matches are read again, and a late acknowledgement changes nothing', async () => {
  const first = await read({ reader: 'steps', limit: 1 });
  expect(first.rules).toEqual(['rule_1']);
  expect((await read({ reader: 'steps', limit: 2 })).rules).toEqual(['rule_1', 'rule_2']);
  const second = await read({ reader: 'steps', limit: 2 });
  expect(await ack('steps', second.cursor)).toEqual({ reader: 'steps', moved: true });
  expect((await read({ reader: 'steps' })).rules.slice(0, 1)).toEqual(['rule_3']);
  expect(await ack('steps', second.cursor)).toEqual({ reader: 'steps', moved: false });
  expect(await ack('steps', first.cursor)).toEqual({ reader: 'steps', moved: false });
  expect((await read({ reader: 'steps' })).rules[0]).toBe('rule_3');
  expect(await ack('steps', first.cursor, { rewind: true })).toEqual({ reader: 'steps', moved: true });
  expect((await read({ reader: 'steps' })).rules[0]).toBe('rule_2');
});

test('without waiting it reads what is stored, even if the node has not been notified yet', async () => {
  await read({ reader: 'at once', start: 'now', rule_id: 'rule_5' });
  await world.write([5], { silent: true });
  expect((await read({ reader: 'at once' })).rules).toEqual(['rule_5']);
});

test('starts with new matches unless the request says "oldest"', async () => {
  const none = await read({ reader: 'new', start: undefined, rule_id: 'rule_1' });
  expect(none).toMatchObject({ rules: [], cursor: null });
  const waiting = read({ reader: 'new', wait_seconds: 30 });
  await world.write([1, 4]);
  expect((await waiting).rules).toEqual(['rule_1']);
});

test('a reader keeps its filter: another one under its name is refused, with the existing one', async () => {
  await read({ reader: 'bound', rule_id: 'rule_1', platform: 'x' });
  expect((await read({ reader: 'bound' })).rules.every((rule) => rule === 'rule_1')).toBe(true);
  const other = await read({ reader: 'bound', rule_id: 'rule_2' });
  expect(other.refused).toMatchObject({
    code: 'already_exists',
    details: { reader: { rule_id: 'rule_1', platform: 'x' } },
  });
  expect((await read({ reader: 'bound', platform: 'firehose' })).refused?.code).toBe('already_exists');
});

test('a cursor is valid only for the reader that returned it', async () => {
  const { cursor } = await read({ reader: 'one' });
  await read({ reader: 'other' });
  expect(await ack('other', cursor)).toMatchObject({ code: 'invalid_argument' });
  const { json } = await api.call(key, '/matches', { order: 'oldest' });
  const ofList = operations.ListMatches.answer.parse(json).next_cursor;
  expect(await ack('one', ofList)).toMatchObject({ code: 'invalid_argument' });
});

test('readers of another account do not exist', async () => {
  const { cursor } = await read({ reader: 'mine' });
  expect(await ask('ListReaders', {}, foreignKey)).toEqual({ readers: [], next_cursor: null });
  expect(await ask('DeleteReader', { reader: 'mine' }, foreignKey)).toMatchObject({ code: 'not_found' });
  const foreign = await ask('AckMatches', { reader: 'mine', cursor }, foreignKey);
  expect(foreign).toMatchObject({ code: 'invalid_argument' });
  expect((await read({ reader: 'x', rule_id: 'rule_1' }, foreignKey)).refused?.code).toBe('not_found');
  expect(await ask('ListReaders', {}, foreignKey)).toEqual({ readers: [], next_cursor: null });
});

test('an account has as many readers as its plan allows, also with concurrent creations', async () => {
  const made = await Promise.all(['a', 'b', 'c', 'd'].map((reader) => read({ reader }, foreignKey)));
  const refused = made.flatMap(({ refused: one }) => one ?? []);
  expect(refused).toHaveLength(2);
  expect(refused[0]).toMatchObject({ code: 'resource_exhausted', details: { limit: 2, used: 2 } });
  expect((await read({ reader: 'e' }, foreignKey)).refused?.code).toBe('resource_exhausted');
});

test('a reader whose name is used twice at once is created once', async () => {
  const both = await Promise.all([read({ reader: 'twin', limit: 1 }), read({ reader: 'twin', limit: 1 })]);
  expect(both[0]).toEqual(both[1]);
  expect(both[0]?.rules).toHaveLength(1);
});

test('a reader whose matches are all muted can acknowledge them, and keeps its relevance', async () => {
  const reader = 'quiet';
  await read({ reader, start: 'now', rule_id: 'rule_4', relevance: 'not_irrelevant' });
  await world.database.run(
    `insert into mutes (id, account_id, rule_id, field, value) values ('mut_4', 'acc_1', 'rule_4', 'phrase', ' post ')`,
  );
  await world.write([4, 4]);
  await eventually(
    async () => expect(await ask('ReadMatches', { reader })).toMatchObject({ matches: [] }),
    soon,
  );
  const answer = await ask('ReadMatches', { reader, wait_seconds: 1 });
  const { cursor, hidden } = operations.ReadMatches.answer.parse(answer);
  expect(hidden).toEqual({ muted: 2, not_relevant: 0 });
  expect(await ack(reader, cursor)).toEqual({ reader, moved: true });
  await world.database.run('delete from mutes');
  await world.write([4]);
  await eventually(async () => expect((await read({ reader })).rules).toEqual(['rule_4']), soon);
  expect((await read({ reader, relevance: 'all' })).refused).toMatchObject({
    code: 'already_exists',
    details: { reader: { relevance: 'not_irrelevant' } },
  });
  await ask('DeleteReader', { reader });
});

test('a reader is listed, and deleted once, which is audited', async () => {
  await read({ reader: 'short', rule_id: 'rule_5', platform: 'x' });
  const { readers } = operations.ListReaders.answer.parse(await ask('ListReaders', {}));
  const names = readers.map(({ name }) => name);
  expect(names).toEqual(names.toSorted());
  expect(readers.find(({ name }) => name === 'short')).toMatchObject({
    rule_id: 'rule_5',
    platform: 'x',
    acknowledged_at: null,
  });
  const deleted = await ask('DeleteReader', { reader: 'short' });
  operations.DeleteReader.answer.parse(deleted);
  expect(await ask('DeleteReader', { reader: 'short' })).toMatchObject({ code: 'not_found' });
  const audit = operations.ListAudit.answer.parse(await ask('ListAudit', { limit: 1 }));
  expect(audit.entries[0]).toMatchObject({
    operation: 'DeleteReader',
    target_id: 'short',
    before: { rule_id: 'rule_5' },
    after: null,
  });
});

test('a reader that retention has overtaken is refused, and continues when it acknowledges that', async () => {
  const { cursor } = await read({ reader: 'late', rule_id: 'rule_2', limit: 1 });
  await ack('late', cursor);
  await world.write([2, 2]);
  await world.database.run(
    `insert into removed_matches (account_id, rule_id, platform, last_position)
     select 'acc_1', 'rule_2', 'x', last_position - 1 from match_log`,
  );
  const refusal = await read({ reader: 'late' });
  expect(refusal.refused?.code).toBe('out_of_range');
  const oldest = refusal.refused?.details.oldest_cursor ?? null;
  expect(await ack('late', oldest)).toEqual({ reader: 'late', moved: true });
  expect(await ack('late', oldest)).toEqual({ reader: 'late', moved: false });
  expect((await read({ reader: 'late' })).rules).toEqual(['rule_2', 'rule_2']);
  // A reader that begins at the oldest match has missed nothing.
  expect((await read({ reader: 'fresh', rule_id: 'rule_2' })).refused).toBeNull();
});

test('a reader whose rule is gone is refused with that reason', async () => {
  await read({ reader: 'orphan', rule_id: 'rule_3' });
  const change = {
    accountId: 'acc_1',
    actor: 'key_1',
    operation: 'DeleteRule',
    requestId: null,
    claim: null,
  };
  await createRuleStore(world.database).delete(change, 'rule_3');
  expect((await read({ reader: 'orphan' })).refused?.code).toBe('failed_precondition');
  expect(await ask('DeleteReader', { reader: 'orphan' })).toMatchObject({ reader: 'orphan' });
});
