import { eventually } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BuiltCli, buildCliOnce } from './src/built-cli.ts';
import { overHttp, startAgent } from './src/mcp-agent.ts';
import { type Account, type ServerUnderTest, startWorld, type World } from './src/world.ts';

let world: World;
let server: ServerUnderTest;
let account: Account;
let cli: BuiltCli;
let ruleId: string;

beforeAll(async () => {
  world = await startWorld();
  server = await world.startServer();
  account = await world.newAccount();
  cli = await buildCliOnce(() => ({ EARSHOT_URL: server.url, EARSHOT_API_KEY: account.key }));
  ruleId = (await server.api(account).createRule({ x: 'before' })).rule_id;
});
afterAll(async () => {
  await cli?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

const words = /X answered 402 to a rule call: CreditsDepleted, The account has no credit left\./;
const advice = 'Add credit to the upstream account. It is retried automatically.';
const rule = { name: 'a', intent: 'b', platforms: ['x'], overrides: { x: 'acme' } };

test("a rule on a platform without credit is refused within 2 s, with the platform's message and what to do", async () => {
  await world.sandbox.setXPlan('out_of_credit');
  // The first refusal may be late: the registrar does not know the new plan yet.
  const took: number[] = [];
  for (const attempt of [1, 2]) {
    const startedAt = performance.now();
    const request = { ...rule, overrides: { x: `acme ${attempt}` } };
    expect(await server.api(account).call('POST', '/api.CreateRule', request)).toMatchObject({
      status: 400,
      json: {
        code: 'failed_precondition',
        message: expect.stringMatching(words),
        details: { platform: 'x', reason: 'no_credit', what_to_do: advice },
      },
    });
    took.push(performance.now() - startedAt);
  }
  expect(Math.min(...took)).toBeLessThan(2_000);
  const { code, stderr } = await cli.run('rules create --name a --intent b --x acme'.split(' '));
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

test('a rule on a blocked source is listed as down, with the reason', async () => {
  const registration = async () => {
    const { rules } = await server.api(account).listRules();
    return rules.find(({ id }) => id === ruleId)?.platforms.x;
  };
  expect(await registration()).toMatchObject({
    status: 'active',
    listening: { state: 'live', reason: null },
  });
  await world.sandbox.setXPlan('out_of_credit');
  await eventually(
    async () => {
      await world.sandbox.arm({ kind: 'stream_cut' });
      expect(await registration()).toMatchObject({ listening: { state: 'down', reason: 'no_credit' } });
    },
    { timeoutMs: 60_000, intervalMs: 500 },
  );
  const { stdout } = await cli.run(['rules', 'list']);
  expect(stdout).toContain('down on x (no_credit)');
});
