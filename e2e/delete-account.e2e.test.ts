import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { compileCache } from '@earshot/engines';
import { eventually } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Api } from './src/api.ts';
import { startReceiver } from './src/webhook-receiver.ts';
import { type Account, type ServerUnderTest, startWorld, tapToken, type World, xToken } from './src/world.ts';

const main = join(import.meta.dirname, '../apps/cli/src/main.ts');
const run = promisify(execFile);
const within = { timeoutMs: 120_000 };
const [onX, onFirehose] = [20, 4];
const env = {
  EARSHOT_SECRETS_KEY: randomBytes(32).toString('base64'),
  EARSHOT_TEST: 'allowInsecureWebhooks=true,upstreamPace=1000',
};

let world: World;
let server: ServerUnderTest;
beforeAll(async () => {
  world = await startWorld({ sandbox: { rateLimits: false } });
  server = await world.startServer(env);
});
afterAll(() => world?.[Symbol.asyncDispose]());

const dump = async () =>
  (await run('pg_dump', ['--data-only', world.databaseUrl], { maxBuffer: 1 << 30 })).stdout;

/** The lines of a dump that contain one of these words. */
function linesWith(text: string, words: readonly string[]): string[] {
  return text.split('\n').filter((line) => words.some((word) => line.includes(word)));
}

/** Creates one of everything that an account can have, with recognizable words, and many rules. */
async function fill(account: Account, api: Api, url: string): Promise<string[]> {
  const post = async (path: string, body: object) => {
    const answer = await api.call('POST', path, body);
    expect(answer).toMatchObject({ status: 200 });
    return answer.json as Record<string, string>;
  };
  const ids = [account.accountId, account.keyId];
  const create = async (index: number) => {
    const platform = index < onX ? 'x' : 'firehose';
    const value =
      index < onX ? `wort${index} -zouloq${index}` : `title:wort${index} AND NOT title:zouloq${index}`;
    const { rule_id = '' } = await post('/api.CreateRule', {
      name: `name-zouloq ${index}`,
      intent: `intent-zouloq ${index}`,
      platforms: [platform],
      overrides: { [platform]: value },
    });
    return rule_id;
  };
  ids.push(...(await Promise.all(Array.from({ length: onX + onFirehose }, (_, index) => create(index)))));
  // The same query as the other account's.
  const shared = await api.createRule({ x: 'shared', name: 'name-zouloq shared' });
  ids.push(shared.rule_id);
  const changed = await api.updateRule(ids[2] ?? '', { name: 'name-zouloq changed' });
  expect(changed.version).toBeGreaterThan(1);
  await api.pauseRule(ids[3] ?? '');
  await api.deleteRule(ids[4] ?? '');
  const kept = await post('/api.CreateWebhook', { name: 'hook-zouloq', url: `${url}?zouloq` });
  const gone = await post('/api.CreateWebhook', { name: 'gone-zouloq', url: `${url}?zouloq-gone` });
  ids.push(kept['webhook_id'] ?? '', gone['webhook_id'] ?? '');
  await post('/api.TestWebhook', { webhook_id: gone['webhook_id'] });
  const digest = await post('/api.CreateDigest', {
    name: 'digest-zouloq',
    schedule: { window_seconds: 30 },
    recipients: { webhook_id: kept['webhook_id'] },
    empty: 'send',
  });
  ids.push(digest['id'] ?? '');
  const feed = await post('/api.CreateFeed', { name: 'feed-zouloq', query: 'zouloq' });
  ids.push(feed['feed_id'] ?? '');
  const { key_id = '' } = await post('/api.CreateKey', {});
  ids.push(key_id);
  await post('/api.RevokeKey', { key_id });
  await post('/api.ReadMatches', { reader: 'reader-zouloq', start: 'oldest' });
  await post('/api.PreviewRule', { platforms: ['x'], overrides: { x: 'wort1 -zouloq1' } });
  const again = await api.call(
    'POST',
    '/api.CreateRule',
    { name: 'once-zouloq', intent: 'zouloq', platforms: ['x'], overrides: { x: 'once -zouloqonce' } },
    { 'idempotency-key': 'idem-zouloq' },
  );
  ids.push((again.json as { rule_id: string }).rule_id);
  return ids.filter(Boolean);
}

/** Kills the command at each of these output lines, one run after the other, and then runs it to its end. */
async function deleteWithKills(accountId: string, killOn: readonly string[]) {
  const kills: string[] = [];
  for (;;) {
    const words = killOn[kills.length];
    const args = [main, 'admin', 'accounts', 'delete', accountId, '--yes', '--json'];
    const command = spawn(process.execPath, args, {
      env: { ...compileCache(), PATH: process.env['PATH'], ...world.logins },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [stdout, said] = ['', ''];
    command.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    command.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (words !== undefined && said.includes(words)) command.kill('SIGKILL');
    });
    const code = await new Promise<number | null>((resolve) => command.once('close', resolve));
    if (code === 0) return { answer: JSON.parse(stdout), kills };
    if (code !== null) throw new Error(`the deletion ended with ${code}: ${said}`);
    kills.push(words ?? '');
    // Of the 30 s that the deletion waits for requests in progress, 25 s are over: there are none.
    if (words === 'Waiting')
      await world.database.query(
        `update deleted_accounts set released_at = released_at - interval '25 seconds'`,
      );
  }
}

test('a deleted account leaves no data, here and upstream, and other accounts miss nothing', async () => {
  await using receiver = await startReceiver();
  const account = await world.newAccount('name-zouloq of the account');
  const api = server.api(account);
  const ids = await fill(account, api, receiver.url);
  const other = server.api(await world.newAccount('neighbour'));
  await other.createRule({ x: 'shared', name: 'the neighbour shares' });
  await other.createRule({ x: 'beside', name: 'the neighbour alone' });
  await world.sandbox.posts(['shared one', 'beside one', ...[5, 6, 7, 8].map((n) => `wort${n} and more`)]);
  await eventually(async () => expect((await api.allMatches({})).length).toBe(5), within);
  await eventually(async () => expect((await other.allMatches({})).length).toBe(2), within);
  await eventually(() => expect(receiver.messages.length).toBeGreaterThan(1), within);
  const before = await other.allMatches({});
  const words = [...ids, 'zouloq'];
  // Control: the search finds data that exists, in many tables.
  expect(linesWith(await dump(), words).length).toBeGreaterThan(3 * (onX + onFirehose));

  const stages = ['rules are still to be deleted', 'Waiting', 'rows removed from'];
  const { answer, kills } = await deleteWithKills(account.accountId, stages);
  expect(answer).toMatchObject({ account_id: account.accountId, deleted_at: expect.any(String) });
  expect(kills).toEqual(stages);
  const left = linesWith(await dump(), words);
  expect(left).toEqual([expect.stringMatching(new RegExp(`^${account.accountId}\\t`))]);
  const { rows } = await world.database.query('select * from deleted_accounts');
  expect(rows).toMatchObject([{ account_id: account.accountId, deleted_at: expect.any(Date) }]);

  const upstream = [
    ...(await world.sandbox.xState(xToken)).rules,
    ...(await world.sandbox.firehoseState(tapToken)).rules,
  ];
  expect(upstream.map(({ value }) => value).toSorted()).toEqual(['beside', 'shared']);
  expect(await api.call('GET', '/api.ListRules')).toMatchObject({ status: 401 });
  expect(await other.allMatches({})).toEqual(before);
  await world.sandbox.posts(['shared two', 'beside two', 'wort5 again']);
  await eventually(async () => expect((await other.allMatches({})).length).toBe(4), within);
  expect(linesWith(await dump(), words)).toEqual(left);

  // A second run does no harm, and deletes what a suspended node has written since.
  await world.database.query(`insert into notice_log (account_id, last_position) values ($1, 0)`, [
    account.accountId,
  ]);
  expect(linesWith(await dump(), words)).toHaveLength(2);
  expect((await deleteWithKills(account.accountId, [])).answer).toMatchObject({ rows_removed: 1 });
  expect(linesWith(await dump(), words)).toEqual(left);
});
