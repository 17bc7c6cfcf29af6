import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { operations } from '@earshot/contract';
import { eventually } from '@earshot/testkit';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Api } from './src/api.ts';
import { startCommand } from './src/demo-process.ts';
import { run } from './src/machine.ts';
import { readBlocks, readCommands } from './src/page-blocks.ts';
import { shareWorld } from './src/shared-world.ts';
import type { Account, ServerUnderTest, World } from './src/world.ts';

const within = { timeoutMs: 90_000 };

let world: World;
let server: ServerUnderTest;
let dir: string;
let account: Account;
let api: Api;
let env: Record<string, string>;

beforeAll(async () => {
  world = await shareWorld();
  server = await world.startServer();
  dir = await mkdtemp(join(tmpdir(), 'earshot-guides-'));
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await rm(dir, { recursive: true });
});
beforeEach(async () => {
  account = await world.newAccount();
  api = server.api(account);
  env = {
    EARSHOT_URL: server.url,
    EARSHOT_API_KEY: account.key,
    EARSHOT_DATABASE_URL: world.databaseUrl,
  };
});

const ruleIdIn = (printed: string) => /rule_\w+/.exec(printed)?.[0] ?? '';

test('docs/budgets.md: budgets of a rule, a key and an account', async () => {
  const { set } = await readCommands('docs/budgets.md', ['set']);
  const [create = '', ...others] = set.split('\n');
  const ruleId = ruleIdIn(await run(create, env));
  expect(await api.getRule(ruleId)).toMatchObject({ budget: { usd: 5, period: 'day', on_reached: 'pause' } });
  const { accountId } = account;
  await run(
    others
      .join('\n')
      .replace(/rule_\w+/, ruleId)
      .replace(/acc_\w+/, accountId),
    env,
  );
  expect(await api.getRule(ruleId)).toMatchObject({
    budget: { matches: 1_000, period: 'month', on_reached: 'notify' },
  });
  const { keys } = operations.ListKeys.answer.parse((await api.call('POST', '/api.ListKeys', {})).json);
  expect(keys.map(({ budget }) => budget)).toContainEqual(
    expect.objectContaining({ usd: 10, period: 'day' }),
  );
  expect(await world.admin.readBudget(accountId)).toMatchObject({ budget: { usd: 100, period: 'month' } });
});

test('docs/previews.md: a trial, and how it becomes an ordinary rule', async () => {
  const { tryIt, goOn } = await readCommands('docs/previews.md', ['tryIt', 'goOn']);
  const ruleId = ruleIdIn(await run(tryIt, env));
  expect(await api.getRule(ruleId)).toMatchObject({
    expires_at: expect.any(String),
    budget: { matches: 50, period: 'lifetime' },
  });
  await api.pauseRule(ruleId);
  await run(goOn.replaceAll(/rule_\w+/g, ruleId), env);
  expect(await api.getRule(ruleId)).toMatchObject({
    state: 'active',
    expires_at: null,
    budget: { usd: 5, period: 'day' },
  });
});

test('docs/notices.md: the notices that are open', async () => {
  const { ask } = await readCommands('docs/notices.md', ['ask']);
  const answer = operations.ListNotices.answer.parse(JSON.parse(await run(ask, env)));
  expect(answer.notices).toEqual([]);
});

test('docs/readers.md: a stream, and a named reader', async () => {
  const { stream, read } = await readCommands('docs/readers.md', ['stream', 'read']);
  await api.createRule({ x: 'marzipan' });
  const streaming = startCommand('/bin/sh', ['-c', `exec ${stream}`], dir, env);
  try {
    await streaming.line(/^event: open$/);
    await world.sandbox.posts(['marzipan']);
    await streaming.line(/^event: match$/);
  } finally {
    streaming.process.kill('SIGTERM');
    await streaming.exited;
  }
  await eventually(async () => {
    const answer = operations.ReadMatches.answer.parse(JSON.parse(await run(read, env)));
    expect(answer.matches).toMatchObject([{ payload: { text: 'marzipan' } }]);
  }, within);
});

test('docs/rules-as-code.md: the file is checked, planned and applied, and then nothing is left to do', async () => {
  const path = 'docs/rules-as-code.md';
  const { commands } = await readCommands(path, ['commands']);
  const file = (await readBlocks(path)).find(({ language }) => language === 'yaml');
  await writeFile(join(dir, 'rules.yaml'), file?.text ?? '');
  await run(commands, env, { cwd: dir });
  const { rules } = await api.listRules();
  expect(
    rules
      .map(({ managed_by }) => managed_by)
      .toSorted((one, other) => (String(one?.key) < String(other?.key) ? -1 : 1)),
  ).toEqual([
    { set: 'product-launches', key: 'balloons' },
    { set: 'product-launches', key: 'rockets' },
  ]);
});
