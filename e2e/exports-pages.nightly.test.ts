import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually, skipUnless } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { missingPython, python } from '../packages/testkit/src/debian-python.ts';
import { type BuiltCli, buildCliOnce } from './src/built-cli.ts';
import { repository } from './src/demo-process.ts';
import { queryDuckDb } from './src/duckdb.ts';
import { type Account, type ServerUnderTest, startWorld, type World } from './src/world.ts';

const page = readFileSync(join(repository, 'docs/exports.md'), 'utf8');
const blocks = (language: string) =>
  Array.from(page.matchAll(new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``, 'g')), ([, code = '']) => code);

const texts = [
  'comet, "quoted"\nwith\r\nlines\rand\ttabs',
  '=HYPERLINK("https://evil.example","comet")',
  '+comet',
  '-comet',
  '@comet',
  "'comet",
  "''comet",
  '"comet',
  'comet NULL, NaN, \u2028, \u202E',
  'comet nul \0 inside',
  'comet lone \uD83D surrogate',
  `comet 🙂 ${'é'.repeat(50_000)}`,
];
/** What files have in place of NUL and lone surrogates. */
const readable = texts.map((text) => text.toWellFormed().replaceAll('\0', '\uFFFD'));

let world: World;
let server: ServerUnderTest;
let account: Account;
let cli: BuiltCli;

beforeAll(async () => {
  world = await startWorld();
  server = await world.startServer();
  account = await world.newAccount();
  cli = await buildCliOnce(() => ({ EARSHOT_URL: server.url, EARSHOT_API_KEY: account.key }));
  const api = server.api(account);
  await api.createRule({ x: 'comet' });
  for (const [index] of texts.entries()) await world.sandbox.posts([`comet ${index}`]);
  await eventually(async () => expect(await api.allMatches()).toHaveLength(texts.length), {
    timeoutMs: 60_000,
  });
  // The sandbox would not carry all of them.
  const matches = (await api.allMatches()).toSorted((one, other) => (one.id < other.id ? -1 : 1));
  for (const [index, { platform_post_id: id, payload }] of matches.entries())
    await world.database.query('update posts set payload = $2 where platform_post_id = $1', [
      id,
      JSON.stringify({ ...payload, text: texts[index] }),
    ]);
  for (const [format, out] of [
    ['csv', 'week.csv'],
    ['ndjson', 'week.ndjson'],
    ['parquet', 'matches'],
  ] as const) {
    const { code } = await cli.run(['matches', 'export', '--format', format, '--out', out]);
    expect(code).toBe(0);
  }
});
afterAll(async () => {
  await cli?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

test(
  'the pandas example reads every text of a CSV as it was',
  skipUnless('python', missingPython(['pandas'], 'python3-pandas')),
  async () => {
    const [code = ''] = blocks('python');
    // `map` was named `applymap` before pandas 2.1, which Debian 12 does not have.
    const older =
      'import pandas\npandas.DataFrame.map = getattr(pandas.DataFrame, "map", None) or pandas.DataFrame.applymap\n';
    const script = join(cli.dir, 'read.py');
    await writeFile(script, `${older}${code}\nimport json, sys\nprint(json.dumps(list(texts["text"])))\n`);
    const { stdout } = await promisify(execFile)(python, [script], { cwd: cli.dir, maxBuffer: 1e8 });
    expect(JSON.parse(stdout)).toEqual(readable);
  },
);

test('the DuckDB examples read every text of a CSV, and count the matches of Parquet files', async () => {
  const [code = ''] = blocks('sql');
  const [csv = '', parquet = ''] = code
    .replaceAll("'week.csv'", `'${join(cli.dir, 'week.csv')}'`)
    .replaceAll("'matches/", `'${cli.dir}/matches/`)
    .split(';\n');
  expect((await queryDuckDb(csv)).map(({ text }) => text)).toEqual(readable);
  expect(await queryDuckDb(parquet)).toEqual([{ platform: 'x', matches: String(texts.length) }]);
});

test('DuckDB reads equal texts from NDJSON and Parquet', async () => {
  const tables = [
    `read_json('${join(cli.dir, 'week.ndjson')}', columns = {id: 'varchar', text: 'varchar'})`,
    `'${cli.dir}/matches/*.parquet'`,
  ];
  for (const table of tables) {
    const rows = await queryDuckDb(`select text from ${table} order by id`);
    expect(rows.map(({ text }) => text)).toEqual(readable);
  }
  expect(
    (await readFile(join(cli.dir, 'week.csv'), 'utf8')).split('\n').filter((line) => /,[=+@-]/.test(line)),
  ).toEqual([]);
});
