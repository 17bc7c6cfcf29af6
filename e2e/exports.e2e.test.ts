import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { zstdDecompressSync } from 'node:zlib';
import { lengthOf, startTcpProxy } from '@earshot/testkit';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type BuiltCli, buildCliOnce } from './src/built-cli.ts';
import { queryDuckDb } from './src/duckdb.ts';
import { storeMatches } from './src/stored-matches.ts';
import { type Account, type ServerUnderTest, startWorld, type World } from './src/world.ts';

/** About 15 MB, and in the nightly run 1.6 GB. */
const { count, textLength, isNightly } = lengthOf({
  always: { count: 6_000, textLength: 1_000, isNightly: false },
  nightly: { count: 1_000_000, textLength: 500, isNightly: true },
});
/** Otherwise V8 takes more on a larger machine. */
const smallHeap = { NODE_OPTIONS: '--max-semi-space-size=16 --max-old-space-size=192' };
const residentMiBMax = 300;

let world: World;
let server: ServerUnderTest;
let account: Account;
let cli: BuiltCli;
let ruleId: string;
let url: string;

beforeAll(async () => {
  world = await startWorld();
  server = await world.startServer(smallHeap);
  account = await world.newAccount();
  url = server.url;
  cli = await buildCliOnce(() => ({ EARSHOT_URL: url, EARSHOT_API_KEY: account.key }));
  ({ rule_id: ruleId } = await server.api(account).createRule({ x: 'comet' }));
  await storeMatches(world.database, { accountId: account.accountId, ruleId, count, textLength });
});
afterEach(() => cli.killStarted());
afterAll(async () => {
  await cli?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

const formats = ['ndjson', 'csv', 'parquet'] as const;
type Format = (typeof formats)[number];
const part = String(Math.ceil(count / 5));
const pathOf = (name: string) => join(cli.dir, name);

async function exportTo(name: string, format: Format, more: readonly string[] = []) {
  const words = [
    'matches',
    'export',
    '--format',
    format,
    '--out',
    name,
    ...(format === 'parquet' ? ['--part', part] : []),
    ...more,
  ];
  const { code, stderr } = await cli.run(words);
  expect([code, stderr]).toEqual([0, expect.stringMatching(/Exported .*\.\n$/)]);
  return stderr;
}

const compressors = { ZSTD: (bytes: Uint8Array) => new Uint8Array(zstdDecompressSync(bytes)) };

/** The number of rows up to `max`, and a hash of all of their values in order. */
async function digestOf(name: string, format: Format, max = Number.POSITIVE_INFINITY) {
  const hash = createHash('sha256');
  let rows = 0;
  const add = (text: string, isRow: boolean) => {
    if (isRow) rows += 1;
    if (rows <= max) hash.update(text);
  };
  if (format === 'parquet') {
    for (const file of (await readdir(pathOf(name))).toSorted()) {
      const read = { file: await asyncBufferFromFile(join(pathOf(name), file)), compressors };
      for (const row of await parquetReadObjects(read)) add(JSON.stringify(row), true);
    }
  } else {
    // A row of CSV may be several lines.
    for await (const line of createInterface({ input: createReadStream(pathOf(name)) }))
      add(line, /^(\{"id":")?mat_/.test(line));
  }
  return { rows: Math.min(rows, max), values: hash.digest('hex') };
}

/** The largest resident memory of the server in MiB while the work runs. */
async function peakMiB(work: () => Promise<unknown>): Promise<number> {
  const done = work().then(() => true);
  let peak = 0;
  for (;;) {
    peak = Math.max(peak, await residentMiB());
    if (await Promise.race([done, sleep(50, false)])) return peak;
  }
}

async function residentMiB(): Promise<number> {
  const status = await readFile(`/proc/${server.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

test.for(formats)('the server exports as %s with little memory', async (format) => {
  const startedAt = performance.now();
  const peak = await peakMiB(() => exportTo(`whole.${format}`, format));
  const seconds = (performance.now() - startedAt) / 1_000;
  const { rows } = await digestOf(`whole.${format}`, format);
  const megabytes = (await sizeOf(`whole.${format}`)) / 1e6;
  console.log(
    `${format}: ${rows} matches, ${seconds.toFixed(1)} s, ${megabytes.toFixed(0)} MB, server ${peak.toFixed(0)} MiB`,
  );
  expect(rows).toBe(count);
  expect(peak).toBeLessThan(residentMiBMax);
  if (isNightly) await compareInDuckDb(`whole.${format}`, format);
});

const readers = {
  ndjson: (path: string) =>
    `read_json('${path}', columns = {id: 'varchar', created_at: 'timestamptz', text: 'varchar', author_name: 'varchar', raw: 'varchar'})`,
  csv: (path: string) => `read_csv('${path}', all_varchar = true)`,
  parquet: (path: string) => `'${path}/*.parquet'`,
};

/** Another program reads as many rows, and the values of some of them as the API lists them. */
async function compareInDuckDb(name: string, format: Format): Promise<void> {
  const table = readers[format](pathOf(name));
  const [counts] = await queryDuckDb(
    `select count(*)::integer as rows, count(distinct id)::integer as ids from ${table}`,
  );
  expect(counts).toEqual({ rows: count, ids: count });
  const { matches } = await server.api(account).matches({ order: 'oldest', limit: 50 });
  const ids = matches.map(({ id }) => `'${id}'`).join(', ');
  const restored = (column: string) => (format === 'csv' ? `regexp_replace(${column}, '^''', '')` : column);
  const rows = await queryDuckDb(
    `select id, ${restored('text')} as text, ${restored('author_name')} as author_name, raw, epoch_ms(created_at::timestamptz)::varchar as at
     from ${table} where id in (${ids}) order by id`,
  );
  expect(rows).toEqual(
    matches.map(({ id, created_at, payload }) => ({
      id,
      text: payload.text,
      author_name: payload.author?.name,
      raw: JSON.stringify(payload.raw),
      at: String(Date.parse(created_at)),
    })),
  );
}

/** Of a file, or of all files in a folder. */
async function sizeOf(name: string): Promise<number> {
  const found = await stat(pathOf(name));
  if (!found.isDirectory()) return found.size;
  const files = await readdir(pathOf(name));
  const sizes = await Promise.all(files.map(async (file) => (await stat(join(pathOf(name), file))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

test('a client that does not read holds little memory, and delays no other request', async () => {
  const cancel = new AbortController();
  const response = await fetch(new URL('/api.ExportMatches', server.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ format: 'ndjson' }),
    signal: cancel.signal,
  });
  expect(response.status).toBe(200);
  const peak = await peakMiB(async () => {
    for (let round = 0; round < 20; round++) {
      expect((await server.api(account).call('POST', '/matches', { limit: 1 })).status).toBe(200);
      await sleep(50);
    }
  });
  cancel.abort();
  expect(peak).toBeLessThan(residentMiBMax);
});

const removed = 100;

/** In the middle of the first file. */
const cutAfterBytes = { ndjson: 2_000_000, csv: 2_000_000, parquet: 4_000 };

test.for(formats)('an export as %s that is cut has exactly the rows of one that is not', async (format) => {
  await using proxy = await startTcpProxy({ target: { port: Number(new URL(server.url).port) } });
  url = `http://${proxy.address}`;
  const name = `cut.${format}`;
  const isCut = Promise.withResolvers<void>();
  proxy.cutAnswerAfter(cutAfterBytes[format], () => {
    proxy.refuse(true);
    isCut.resolve();
  });
  const running = exportTo(name, format);
  await isCut.promise;
  // They are removed before the export is there, or were removed in an earlier test.
  await removeLast();
  // It is behind the last match of the export.
  await world.sandbox.posts([`another comet ${format}`]);
  // Once more, where an export continues within a file.
  if (format !== 'parquet') proxy.cutAnswerAfter(cutAfterBytes[format]);
  proxy.refuse(false);
  const noted = await running;
  url = server.url;
  expect(proxy.fired.cut).toBe(format === 'parquet' ? 1 : 2);
  expect(noted).toContain('The download was cut. Continuing.');
  const { rows, ...values } = await digestOf(name, format, count - removed);
  expect({ rows, ...values }).toEqual(await digestOf(`whole.${format}`, format, count - removed));
  // Only what has arrived in the tests before.
  expect((await digestOf(name, format)).rows).toBe(count - removed + formats.indexOf(format));
});

/** Removes the last matches as a removal does, except those that arrived since. */
async function removeLast(): Promise<void> {
  await world.database.query(
    `with gone as (
       delete from matches where event_key in (select 'stored-' || n from generate_series(${count - removed + 1}, ${count}) as n)
       returning *
     )
     insert into removals (position, match_position, account_id, rule_id, platform, reason, created_at)
     select last_position + row_number() over (), position, account_id, rule_id, platform, 'deleted', now() from gone, match_log`,
  );
  await world.database.query(`update match_log set last_position = last_position + ${removed}`);
}
