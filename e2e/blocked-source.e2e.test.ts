import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BuiltCli, buildCliOnce } from './src/built-cli.ts';
import { overHttp, startAgent } from './src/mcp-agent.ts';
import { type Account, type ServerUnderTest, startWorld, type World } from './src/world.ts';

let world: World;
let server: ServerUnderTest;
let account: Account;
let cli: BuiltCli;

beforeAll(async () => {
  world = await startWorld();
  server = await world.startServer();
  account = await world.newAccount();
  cli = await buildCliOnce(() => ({ EARSHOT_URL: server.url, EARSHOT_API_KEY: account.key }));
  await server.api(account).createRule({ x: 'before' });
});
afterAll(async () => {
  await cli?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

const words = /X answered 402 to a rule call: CreditsDepleted, The account has no credit left\./;
const advice = 'Add credit to the upstream account. It is tried again by itself.';
const rule = { name: 'a', intent: 'b', platforms: ['x'], overrides: { x: 'acme' } };

test('a rule on a platform without credit is refused within 2 s, with its words and what to do', async () => {
  await world.sandbox.setXPlan('out_of_credit');
  const took: number[] = [];
  for (const attempt of [1, 2, 3]) {
    const startedAt = performance.now();
    const overrides = { x: `acme ${attempt}` };
    const { status, json } = await server
      .api(account)
      .call('POST', '/api.CreateRule', { ...rule, overrides });
    took.push(performance.now() - startedAt);
    expect({ status, json }).toMatchObject({
      status: 400,
      json: {
        code: 'failed_precondition',
        message: expect.stringMatching(words),
        details: { platform: 'x', reason: 'no_credit', what_to_do: advice },
      },
    });
  }
  console.info(`refused after ${took.map(Math.round).join(', ')} ms`);
  expect(took.toSorted((one, other) => one - other)[1]).toBeLessThan(2_000);
  const { code, stderr } = await cli.run([
    'rules',
    'create',
    '--name',
    'a',
    '--intent',
    'b',
    '--x',
    'acme cli',
  ]);
  expect(code).not.toBe(0);
  expect(stderr).toMatch(words);
  expect(stderr).toContain(advice);
  await using agent = await startAgent(overHttp({ url: server.url, key: account.key }));
  const refusal = await agent.refused('create_rule', { ...rule, overrides: { x: 'acme agent' } });
  expect(refusal).toMatchObject({
    code: 'failed_precondition',
    message: expect.stringMatching(words),
    what_to_do: advice,
  });
});
