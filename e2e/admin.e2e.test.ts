import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileCache } from '@earshot/engines';
import { eventually } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApi } from './src/api.ts';
import { shareWorld } from './src/shared-world.ts';
import { type ServerUnderTest, type World, xToken } from './src/world.ts';

const main = join(import.meta.dirname, '../apps/cli/src/main.ts');
let world: World;
let server: ServerUnderTest;

beforeAll(async () => {
  world = await shareWorld();
  server = await world.startServer();
});
afterAll(() => world?.[Symbol.asyncDispose]());

interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

const admin = (...args: string[]) => adminWith(world.logins, ...args);

function adminWith(settings: Readonly<Record<string, string>>, ...args: string[]): Promise<Outcome> {
  const env = { ...compileCache(), PATH: process.env['PATH'], ...settings };
  return new Promise((resolve) => {
    execFile(process.execPath, [main, 'admin', ...args], { env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

const adminJson = async (...args: string[]) => JSON.parse((await admin(...args, '--json')).stdout);

const statusWith = async (key: string, method = 'GET', path = '/api.ListRules') =>
  (await createApi(server.url, key).call(method, path, method === 'POST' ? {} : undefined)).status;

test('a created key works until it is revoked', async () => {
  const account = await adminJson('create-account', '--name', 'Acme');
  expect(account).toEqual({ account_id: expect.stringMatching(/^acc_/), name: 'Acme', plan: 'paid' });
  const created = await adminJson('create-key', '--account', account.account_id);
  expect(await statusWith(created.key)).toBe(200);
  expect(await statusWith(created.key, 'POST', '/matches')).toBe(200);

  expect(await adminJson('revoke-key', created.key_id)).toEqual({ key_id: created.key_id, revoked: true });
  await eventually(async () => expect(await statusWith(created.key)).toBe(401), { timeoutMs: 5_000 });
  const again = await admin('revoke-key', created.key_id);
  expect(again).toMatchObject({ code: 3, stdout: '' });
  expect(again.stderr).toContain(`There is no valid key ${created.key_id}.`);
});

test.for([
  ['create-account --name A --plan gold', 2, '--plan takes free or paid, not "gold".'],
  ['create-key --account acc_unknown', 3, 'There is no account acc_unknown.'],
  ['create-account --name A --database-url postgres://earshot@127.0.0.1:1/earshot', 1, 'database'],
] as const)('%s is refused with what to do', async ([typed, code, words]) => {
  const outcome = await admin(...typed.split(' '));
  expect(outcome).toMatchObject({ code, stdout: '' });
  expect(outcome.stderr).toContain(words);
});

test('reads the database address from a file, as on Kubernetes and systemd nodes', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'earshot-admin-'));
  const file = join(dir, 'database-url');
  await writeFile(file, `${world.logins['EARSHOT_MIGRATION_DATABASE_URL']}\n`);
  const create = ['create-account', '--name', 'In a file', '--json'];
  const inFile = { EARSHOT_DATABASE_URL_FILE: file };
  expect(await adminWith(inFile, ...create)).toMatchObject({ code: 0, stderr: '' });
  const both = { ...inFile, ...world.logins, EARSHOT_MIGRATION_DATABASE_URL: '' };
  expect(await adminWith(both, ...create)).toMatchObject({
    stdout: '',
    stderr: expect.stringContaining('are both set. Keep one of them'),
  });
  await rm(dir, { recursive: true });
});

test("names the missing login if the server's own login may not do it", async () => {
  const { EARSHOT_MIGRATION_DATABASE_URL: _, ...runtime } = world.logins;
  const { accountId } = await world.newAccount();
  const outcome = await adminWith(runtime, 'accounts', 'suspend', accountId);
  expect(outcome).toMatchObject({ code: 4, stdout: '' });
  expect(outcome.stderr).toContain('earshot_runtime may not do this');
  expect(outcome.stderr).toContain('set EARSHOT_MIGRATION_DATABASE_URL');
});

test("lists upstream rules with the platform's own ids and the rules that they serve", async () => {
  const account = await world.newAccount();
  const api = server.api(account);
  const { rule_id, platforms } = await api.createRule({ x: 'quince' });
  const upstream = (await world.sandbox.xState(xToken)).rules.find(({ value }) => value === 'quince');
  const shown = {
    rule_id,
    account_id: account.accountId,
    platform: 'x',
    platform_rule_id: platforms.x?.platform_rule_id,
    upstream_rule_id: upstream?.id,
    source_id: 'x:main',
    state: 'registered',
    value: 'quince',
  };
  expect(await adminJson('upstream-rules', '--rule', rule_id)).toEqual([shown]);
  expect(await adminJson('upstream-rules')).toContainEqual(shown);
  expect((await admin('upstream-rules')).stdout).toContain(
    `${rule_id}  x:main  ${upstream?.id}  registered  quince`,
  );
  await api.deleteRule(rule_id);
  expect(await admin('upstream-rules', '--rule', rule_id)).toMatchObject({ code: 3, stdout: '' });
});

test('a forgotten post leaves all lists, its followers are notified, and X cannot bring it back', async () => {
  const api = server.api(await world.newAccount());
  await api.createRule({ x: 'medlar' });
  const { next_cursor: begun } = await api.matches({ order: 'oldest' });
  const [first] = await world.sandbox.posts(['medlar one', 'medlar two']);
  const texts = async () =>
    (await api.matches()).matches.map(({ payload }) => String(payload.text)).toSorted();
  await eventually(async () => expect(await texts()).toHaveLength(2), { timeoutMs: 30_000 });
  const { matches } = await api.matches({ order: 'oldest', cursor: begun });
  const gone = matches.find(({ platform_post_id }) => platform_post_id === first?.id)?.id;

  expect((await admin('forget', '--post', '1', '--url', 'u')).code).toBe(2);
  expect(await adminJson('forget', '--post', first?.id ?? '')).toEqual({ items: 1, matches: 1 });
  expect(await texts()).toEqual(['medlar two']);
  const followed = await api.matches({ order: 'oldest', cursor: begun });
  expect(followed.removed).toMatchObject([{ type: 'removed', match_id: gone, reason: 'forgotten' }]);
  await world.sandbox.repost(first?.id ?? '', 'medlar one, again');
  await world.sandbox.posts(['medlar three']);
  await eventually(async () => expect(await texts()).toContain('medlar three'), { timeoutMs: 30_000 });
  expect(await texts()).toEqual(['medlar three', 'medlar two']);
});
