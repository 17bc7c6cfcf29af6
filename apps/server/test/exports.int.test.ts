import { hash } from 'node:crypto';
import { zstdDecompressSync } from 'node:zlib';
import { type ExportedMatch, operations } from '@earshot/contract';
import { eventually, migratedTemplate } from '@earshot/testkit';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { columns } from '../src/exports/export-row.ts';
import { createMatchStore } from '../src/matching/match-store.sql.ts';
import { type ReaderApi, type ReaderWorld, startReaderWorld } from './reader-world.ts';
import { xEvent, xMatch } from './stream-events.ts';

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

const soon = { timeoutMs: 20_000 };

async function download(body: object, signal: AbortSignal | null = null): Promise<Response> {
  return await fetch(new URL('/api.ExportMatches', api.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  });
}

async function rowsOf(body: object): Promise<ExportedMatch[]> {
  const response = await download({ format: 'ndjson', ...body });
  expect(response.status).toBe(200);
  const lines = (await response.text()).split('\n').filter(Boolean);
  return lines.map((line) => operations.ExportMatches.answer.parse(JSON.parse(line)));
}

const idsOf = async (body: object = {}) => (await rowsOf(body)).map(({ id }) => id);

async function listed(body: object = {}): Promise<string[]> {
  const { json } = await api.call(key, '/matches', { order: 'oldest', limit: 100, ...body });
  return operations.ListMatches.answer.parse(json).matches.map(({ id }) => id);
}

/** An independent reader of RFC 4180. Undefined is an empty cell without quotes. */
function readCsv(text: string): (string | undefined)[][] {
  expect(text.endsWith('\r\n')).toBe(true);
  const rows: (string | undefined)[][] = [[]];
  for (const [, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    rows.at(-1)?.push(quoted === undefined ? plain || undefined : quoted.replaceAll('""', '"'));
    if (end === '\r\n') rows.push([]);
  }
  return rows.slice(0, -1);
}

async function readParquet(response: Response): Promise<Record<string, unknown>[]> {
  const file = await response.arrayBuffer();
  const compressors = { ZSTD: (bytes: Uint8Array) => new Uint8Array(zstdDecompressSync(bytes)) };
  return await parquetReadObjects({ file, compressors });
}

describe('an export', () => {
  test('has the matches of the list in the same order, for every filter', async () => {
    await world.write([1, 2, 1, 3, 2, 1]);
    await world.write([3]);
    expect(await listed()).toHaveLength(7);
    const last = (await rowsOf({})).at(-1)?.created_at;
    await world.database.run(
      `insert into mutes (id, account_id, rule_id, field, value) values ('mut_1', 'acc_1', 'rule_2', 'phrase', 'post')`,
    );
    await eventually(async () => expect(await idsOf()).toHaveLength(5), soon);
    for (const filter of [
      {},
      { rule_id: 'rule_1' },
      { platform: 'x' },
      { platform: 'firehose' },
      { from: last },
      { to: last },
      { hidden: 'include' },
      { hidden: 'only' },
    ])
      expect([filter, await idsOf(filter)]).toEqual([filter, await listed(filter)]);
    expect(await idsOf({ from: last })).toHaveLength(1);
    const muted = await rowsOf({ hidden: 'only' });
    expect(muted.map(({ muted_by }) => muted_by)).toEqual(['mut_1', 'mut_1']);
    expect(await idsOf({ rule_id: 'rule_1', relevance: 'relevant' })).toHaveLength(3);
  });

  test('continues behind a row up to the same last match, without removed and newer matches', async () => {
    await world.write([1, 2, 3]);
    await world.write([1, 2, 3]);
    const first = await download({ format: 'ndjson' });
    await first.body?.cancel();
    const through = first.headers.get('x-export-through') ?? '';
    const all = await idsOf();
    expect(through).toBe(all.at(-1));
    await world.write([1]);
    const [, second = '', removed = ''] = all;
    await world.database.run(`delete from matches where position = $1`, [
      Number.parseInt(removed.slice(4), 36),
    ]);
    expect(await idsOf({ cursor: second, through })).toEqual(all.slice(3));
    expect(await idsOf({ cursor: through, through })).toEqual([]);
    expect((await idsOf({ cursor: through })).length).toBe(1);
  });

  test('is split into files that follow each other', async () => {
    for (let batch = 0; batch < 4; batch++) await world.write([1, 2, 3]);
    const all = await idsOf({ rule_id: 'rule_1' });
    const sizes: number[] = [];
    const found: unknown[] = [];
    for (let cursor: string | null = 'mat_000000000000'; cursor !== null; ) {
      const part = await download({ format: 'parquet', rule_id: 'rule_1', limit: 3, cursor });
      cursor = part.headers.get('x-export-cursor');
      const rows = await readParquet(part);
      sizes.push(rows.length);
      found.push(...rows.map(({ id }) => id));
    }
    expect(sizes).toEqual([3, 1]);
    expect(found).toEqual(all);
  });

  test('refuses what is not a place, and a place that was lost in a restore', async () => {
    await world.write([1, 2]);
    const [first = ''] = await idsOf();
    for (const field of ['cursor', 'through']) {
      const { status, json } = await api.call(key, '/api.ExportMatches', { format: 'csv', [field]: 'mat_1' });
      expect([status, json]).toMatchObject([
        400,
        { code: 'invalid_argument', details: { violations: [{ field }] } },
      ]);
    }
    await world.database.run('insert into position_jumps (from_position, to_position) values (1, 5000)');
    const lost = await api.call(key, '/api.ExportMatches', { format: 'csv', cursor: 'mat_000000000010' });
    expect(lost.json).toMatchObject({
      code: 'out_of_range',
      details: { reason: 'restored', oldest_cursor: 'mat_000000000001' },
    });
    expect(first).toBe('mat_000000000001');
  });

  test('of an account is refused while two others run', async () => {
    await seedLarge(60);
    const open = [new AbortController(), new AbortController()];
    for (const { signal } of open) expect((await download({ format: 'ndjson' }, signal)).status).toBe(200);
    const refused = await download({ format: 'ndjson' });
    expect([refused.status, refused.headers.get('retry-after'), await refused.json()]).toMatchObject([
      429,
      '2',
      { details: { reason: 'concurrency', limit: 2, used: 2 } },
    ]);
    open[0]?.abort();
    await eventually(async () => expect((await download({ format: 'csv' })).status).toBe(200), soon);
    open[1]?.abort();
  });
});

const hostile = [
  'a, "quoted" text\nwith\r\nlines\rand\ttabs',
  '=HYPERLINK("https://evil.example","click")',
  '+1',
  '-1',
  '@SUM(A1)',
  '\t=1',
  '\r=1',
  "'quoted",
  "''=1",
  '',
  ' ',
  '"',
  ',',
  '\n',
  'NULL',
  'nul \0 inside',
  'lone \uD83D surrogate, \uDE00 reversed',
  '𝒻ü𝓁𝓁 🙂 \u2028 \u202E \uFEFF',
  '€'.repeat(100_000),
];

/** What the texts of a file have in place of what UTF-8 does not allow, and of NUL. */
const cleaned = (text: string) => text.toWellFormed().replaceAll('\0', '\uFFFD');

/** Replaces long texts by their hash, so that a difference can be printed. */
const short = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, one) =>
      typeof one === 'string' && one.length > 1_000 ? hash('sha256', one) : (one ?? null),
    ),
  );

const fromCsv = (cell: string | undefined) => cell?.replace(/^'/, '');

test('hostile texts are equal in every format, and no CSV cell begins a formula', async () => {
  const events = hostile.map((text, index) => {
    const event = xEvent(index);
    const author = { id: text, name: text, handle: null };
    return {
      ...event,
      payload: { ...event.payload, text, author, published_at: '2026-11-14T22:51:08.123Z', raw: { text } },
    };
  });
  const matches = events.map((event) => xMatch(event, 'rule_1'));
  await createMatchStore(world.database).write(events, matches, [], []);
  const rows = await rowsOf({});
  const expected = events.map(({ payload }) => cleaned(payload.text ?? ''));
  expect(short(rows.map(({ text }) => text))).toEqual(short(expected));
  expect(short(rows.map(({ author_name }) => author_name))).toEqual(short(expected));
  expect(short(rows.map(({ raw }) => JSON.parse(raw)))).toEqual(
    short(events.map(({ payload }) => payload.raw)),
  );

  const [head, ...csv] = readCsv(await (await download({ format: 'csv' })).text());
  expect(head).toEqual(columns);
  const cells = rows.map((row) =>
    columns.map((name) => row[name]).map((value) => (value === null ? undefined : String(value))),
  );
  expect(short(csv.map((row) => row.map(fromCsv)))).toEqual(short(cells));
  expect(csv.flat().filter((cell) => /^[=+\-@\t\r]/.test(cell ?? ''))).toEqual([]);

  const response = await download({ format: 'parquet' });
  const types = parquetMetadata(await response.clone().arrayBuffer()).schema;
  expect(types.find(({ name }) => name === 'created_at')).toMatchObject({
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
  });
  const typed = rows.map((row) => ({
    ...row,
    created_at: new Date(row.created_at),
    published_at: row.published_at && new Date(row.published_at),
  }));
  expect(short(await readParquet(response))).toEqual(short(typed));
});

/** Matches with texts of 100 kB. */
async function seedLarge(count: number): Promise<void> {
  const events = Array.from({ length: count }, (_, index) => {
    const event = xEvent(10_000 + index);
    return { ...event, payload: { ...event.payload, text: 'x'.repeat(100_000) } };
  });
  const matches = events.map((event) => xMatch(event, 'rule_1'));
  await createMatchStore(world.database).write(events, matches, [], []);
}
