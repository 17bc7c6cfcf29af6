import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { operations } from '@earshot/contract';
import { eventually } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Api } from './src/api.ts';
import { type Account, type ServerUnderTest, startWorld, tapToken, type World, xToken } from './src/world.ts';

const run = promisify(execFile);

let world: World;
let server: ServerUnderTest;
let account: Account;
/** Every key of this run: none of them may be found anywhere. */
const keys: string[] = [];

beforeAll(async () => {
  world = await startWorld();
  server = await world.startServer({ EARSHOT_LOG_LEVEL: 'debug' });
  account = await world.newAccount();
  keys.push(account.key);
});
afterAll(() => world?.[Symbol.asyncDispose]());

const statusOf = async (api: Api) => (await api.call('GET', '/api.ListRules')).status;

test('a key created over HTTP is shown once; a repetition of the request does not show it', async () => {
  const again = { 'idempotency-key': 'one-more-key' };
  const first = await server.api(account).call('POST', '/api.CreateKey', {}, again);
  const { key, ...rest } = operations.CreateKey.answer.parse(first.json);
  if (key === null) throw new Error('the key was not shown');
  keys.push(key);
  expect(await statusOf(server.api({ ...account, key }))).toBe(200);
  const second = await server.api(account).call('POST', '/api.CreateKey', {}, again);
  expect(second.headers.get('idempotent-replayed')).toBe('true');
  expect(second.json).toEqual({ ...rest, key: null });
});

test('a dump of the whole database contains no key, and nothing in it works as a key', async () => {
  const { stdout: dump } = await run('pg_dump', ['--data-only', world.databaseUrl]);
  expect(dump).toContain(account.keyId);
  for (const key of keys) {
    expect(dump).not.toContain(key);
    expect(dump).not.toContain(key.slice('esk_'.length, -6));
    expect(dump).not.toContain(Buffer.from(key).toString('hex'));
  }
  expect(dump).not.toMatch(/esk_[0-9A-Za-z]{8}/);
  const query = 'select hash, display from api_keys';
  const { stdout: rows } = await run('psql', ['--csv', '--tuples-only', '-c', query, world.databaseUrl]);
  const stored = rows.trim().split(/[\n,]/);
  expect(stored).toHaveLength(2 * keys.length);
  for (const text of stored) {
    const answer = await server.api({ ...account, key: encodeURI(text) }).call('GET', '/api.ListRules');
    expect(answer.status).toBe(401);
  }
});

test('the log of the whole run, at level trace, contains no key and no upstream token', async () => {
  const { key } = account;
  const api = server.api(account);
  await api.call('GET', `/api.ListRules?api_key=${key}`);
  await api.call('POST', '/matches', { cursor: key });
  await api.call('POST', '/matches', `{"key": "${key}"`);
  await api.call('POST', `/nowhere/${key}`, {}, { cookie: key });
  await api.call('GET', '/api.ListRules', undefined, { 'x-request-id': key });
  const { rule_id } = await api.createRule({ name: key, x: 'nebula lang:en', firehose: 'title:nebula' });
  await world.sandbox.arm({ kind: 'stream_cut' });
  await world.sandbox.arm({ kind: 'rules_status', count: 2, status: 503 });
  await api.deleteRule(rule_id);
  await eventually(async () => expect(await world.sandbox.fired()).toEqual([2, 2]), { timeoutMs: 10_000 });
  await world.sandbox.clearFaults();
  await server.stop();

  const log = await world.serverLog();
  // Control: it contains the lines of requests, which name the key by its id.
  expect(log).toContain(`"keyId":"${account.keyId}","accountId":"${account.accountId}"`);
  for (const expected of ['rule created', 'stream ended', 'upstream rule call failed', 'earshot is down']) {
    expect(log).toContain(expected);
  }
  const secrets = [...keys, ...keys.map((one) => one.slice('esk_'.length, -6)), xToken, tapToken];
  const betrayals = log.split('\n').filter((line) => secrets.some((secret) => line.includes(secret)));
  expect(betrayals).toEqual([]);
});
