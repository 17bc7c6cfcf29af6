import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import { Readable } from 'node:stream';
import { type ExportedMatch, operations } from '@earshot/contract';
import { eventually, migratedTemplate } from '@earshot/testkit';
import { parquetReadObjects } from 'hyparquet';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ReaderApi, type ReaderWorld, startReaderWorld } from './reader-world.ts';

const template = migratedTemplate();
let world: ReaderWorld;
let api: ReaderApi;
let key: string;
let stack: AsyncDisposableStack;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  world = stack.use(await startReaderWorld(template, { rules: 3 }));
  api = stack.use(await world.startApi());
  ({ key } = await world.newKey());
});
afterEach(() => stack.disposeAsync());

async function get(body: object): Promise<Response> {
  return await fetch(new URL('/api.ExportMatches', api.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

async function rowsOf(body: object): Promise<ExportedMatch[]> {
  const response = await get({ format: 'ndjson', ...body });
  expect(response.status).toBe(200);
  const lines = (await response.text()).split('\n').filter(Boolean);
  return lines.map((line) => operations.ExportMatches.answer.parse(JSON.parse(line)));
}

const idsOf = async (body: object = {}) => (await rowsOf(body)).map(({ id }) => id);

async function listed(body: object = {}): Promise<string[]> {
  const { json } = await api.call(key, '/matches', { order: 'oldest', limit: 100, ...body });
  return operations.ListMatches.answer.parse(json).matches.map(({ id }) => id);
}

describe('an export', () => {
  test('has the matches of the list in the same order, for every filter', async () => {
    await world.write([1, 2, 1, 3, 2, 1]);
    const all = await listed();
    expect(all).toHaveLength(6);
    const [, second] = (await rowsOf({})).map(({ created_at }) => created_at);
    await world.database.run(`insert into mutes (id, account_id, rule_id, field, value) values ('mut_1', 'acc_1', 'rule_2', 'phrase', 'post')`);
    await eventually(async () => expect(await idsOf()).toHaveLength(4), { timeoutMs: 20_000 });
    for (const filter of [
      {},
      { rule_id: 'rule_1' },
      { platform: 'x' },
      { platform: 'firehose' },
      { from: second },
      { to: second },
      { hidden: 'include' },
      { hidden: 'only' },
    ])
      expect([filter, await idsOf(filter)]).toEqual([filter, await listed(filter)]);
    const muted = await rowsOf({ hidden: 'only' });
    expect(muted.map(({ muted_by }) => muted_by)).toEqual(['mut_1', 'mut_1']);
  });
});
