import { operations } from '@earshot/contract';
import { createEarshot } from '@earshot/sdk';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { describe, expect, test } from 'vitest';
import { createMcpServer } from '../src/server.ts';
import { connectInProcess, jsonAnswer } from './in-process.ts';

const { answer: previewed } = operations.PreviewRule.example;
const { request: oneRule } = operations.GetRule.example;
const draft = { name: 'Rust\u202e', intent: 'b', platforms: ['x'], overrides: { x: 'rust' } };

const estimate = (max: number) => ({
  ...previewed.platforms.x.estimate,
  matches_per_day: { average: 3_600, busiest: 5_000, days: 7 },
  usd_per_day: { min: max / 3, max },
});
const preview = (max: number) => ({
  platforms: { x: { ...previewed.platforms.x, estimate: estimate(max) } },
});
const pause = { reason: 'request', resumes_at: null };
const pausedRule = { ...operations.GetRule.example.answer, state: 'paused', pause };

/** Answers as the API would, and notes what was asked of it. */
function api(answers: Readonly<Record<string, unknown>>) {
  const asked: { path: string; body: unknown }[] = [];
  const ask: typeof fetch = async (input, init) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    const path = pathname.replace('/api.', '');
    asked.push({ path, body: typeof init?.body === 'string' ? JSON.parse(init.body) : null });
    const example = Object.values(operations).find(({ id }) => id === path)?.example.answer;
    const given = answers[path] ?? example;
    const answer = typeof given === 'function' ? given(asked.at(-1)?.body) : given;
    return answer instanceof Response ? answer.clone() : jsonAnswer(answer);
  };
  return { ask, asked, changes: () => asked.filter(({ path }) => /^(Create|Update|Resume)/.test(path)) };
}

const starting = [
  { tool: 'create_rule', args: draft, name: 'Rust\\u{202e}' },
  { tool: 'resume_rule', args: oneRule, name: pausedRule.name },
];

describe.each(starting)('$tool', ({ tool, args, name }) => {
  const call = { name: tool, arguments: { ...args } };

  test('goes on below the bound, and above it once the estimate is accepted', async () => {
    const { ask, changes } = api({ PreviewRule: preview(5), GetRule: pausedRule });
    await using cheap = await connectInProcess(ask);
    expect((await cheap.client.callTool(call)).isError ?? false).toBe(false);
    const dear = api({ PreviewRule: preview(5.01), GetRule: pausedRule });
    await using server = await connectInProcess(dear.ask);
    const accepted = { ...args, accept_estimate: true };
    const result = await server.client.callTool({ name: tool, arguments: accepted });
    expect(result.isError ?? false).toBe(false);
    expect([changes().length, dear.asked.length]).toEqual([1, 1]);
    expect(dear.changes()[0]?.body).toMatchObject({ accept_estimate: true });
  });

  test.each([{ mode: { pin: '2026-07-28' } }, { mode: 'legacy' as const }])(
    'tells an agent whose client cannot ask what it costs and what to send ($mode)',
    async ({ mode }) => {
      const { ask, changes } = api({ PreviewRule: preview(18), GetRule: pausedRule });
      await using server = await connectInProcess(ask, mode);
      const result = await server.client.callTool(call);
      expect(result.isError).toBe(true);
      const told = JSON.stringify(result.content);
      expect(told).toContain('failed_precondition: The rule');
      expect(told).toContain('3600 (5000 on the busiest of 7 days) matches and 6 to 18 US dollars a day');
      expect(told).toContain('accept_estimate: true');
      expect(changes()).toEqual([]);
    },
  );

  test('asks the user where the client can, and goes on when they agree', async () => {
    const { ask, asked, changes } = api({ PreviewRule: preview(18), GetRule: pausedRule });
    const questions: string[] = [];
    await using server = await connectInProcess(ask, { pin: '2026-07-28' }, (question) => {
      questions.push(question);
      expect(changes()).toEqual([]);
      return 'accept';
    });
    const result = await server.client.callTool(call);
    expect(result.isError ?? false).toBe(false);
    expect(questions).toEqual([expect.stringContaining(`The rule "${name}" would bring x: 3600`)]);
    expect(changes()).toMatchObject([{ body: { accept_estimate: true } }]);
    // The estimate that the user has agreed to is not asked for again.
    expect(asked.filter(({ path }) => path === 'PreviewRule')).toHaveLength(1);
    expect(server.answers.join()).toContain('"resultType":"input_required"');
  });

  test.each(['decline', 'cancel'] as const)('does nothing when the user says %s', async (answer) => {
    const { ask, changes } = api({ PreviewRule: preview(18), GetRule: pausedRule });
    await using server = await connectInProcess(ask, { pin: '2026-07-28' }, () => answer);
    const result = await server.client.callTool(call);
    expect(result.isError).toBe(true);
    expect(JSON.stringify(result.content)).toContain('did not agree');
    expect(changes()).toEqual([]);
  });

  test.each([
    [
      'unknown',
      { platforms: { x: { ...previewed.platforms.x, estimate: { ...estimate(9), usd_per_day: null } } } },
    ],
    ['refused', jsonAnswer({ code: 'permission_denied', message: 'No.', details: { request_id: 'r' } }, 403)],
  ])('goes on when the estimate is %s: budgets are for that', async (_, PreviewRule) => {
    const { ask, changes } = api({ PreviewRule, GetRule: pausedRule });
    await using server = await connectInProcess(ask);
    expect((await server.client.callTool(call)).isError ?? false).toBe(false);
    expect(changes()).toHaveLength(1);
  });

  test('asks the user the same when the API refuses an estimate above the budget', async () => {
    const operation = tool === 'create_rule' ? 'CreateRule' : 'ResumeRule';
    const details = { request_id: 'r', estimate: { x: estimate(4) } };
    const refusal = { code: 'failed_precondition', message: 'Above the budget of $1 a day.', details };
    const answers = { PreviewRule: preview(4), GetRule: pausedRule, [operation]: jsonAnswer(refusal, 400) };
    const { ask, changes } = api(answers);
    const questions: string[] = [];
    await using asking = await connectInProcess(ask, { pin: '2026-07-28' }, (question) => {
      questions.push(question);
      return 'accept';
    });
    // This API refuses even then; that must not become a second question.
    expect((await asking.client.callTool(call)).isError).toBe(true);
    expect(questions).toEqual(['Above the budget of $1 a day. Go on?']);
    expect(changes()[1]?.body).toMatchObject({ accept_estimate: true });
    await using mute = await connectInProcess(ask);
    const result = await mute.client.callTool(call);
    expect(JSON.stringify(result.content)).toContain('accept_estimate: true');
  });
});

describe('update_rule', () => {
  const rule = operations.GetRule.example.answer;
  const present = rule.platforms.x.value;
  /** What the queries cost a day, by their text. */
  const costs = (usd: Readonly<Record<string, number>>) => (draft: unknown) =>
    preview(usd[Object(draft).overrides.x] ?? 0);
  const update = (changes: object) => ({ name: 'update_rule', arguments: { ...oneRule, ...changes } });
  const isError = async (client: Client, changes: object) =>
    (await client.callTool(update(changes))).isError ?? false;
  const broad = { overrides: { x: 'rust' } };

  test('does not make a rule dearer than the bound before the estimate is accepted', async () => {
    const { ask, changes } = api({ PreviewRule: costs({ [present]: 1, rust: 18 }) });
    await using server = await connectInProcess(ask);
    const result = await server.client.callTool(update(broad));
    expect(result.isError).toBe(true);
    expect(JSON.stringify(result.content)).toContain('6 to 18 US dollars a day');
    expect(JSON.stringify(result.content)).toContain('accept_estimate: true');
    expect(changes()).toEqual([]);
    expect(await isError(server.client, { ...broad, accept_estimate: true })).toBe(false);
    expect(changes()).toMatchObject([{ path: 'UpdateRule', body: { ...broad, accept_estimate: true } }]);
  });

  test('asks about the platforms and options that the rule has after the change', async () => {
    const { ask, asked } = api({ PreviewRule: preview(1) });
    await using server = await connectInProcess(ask);
    const changes = { overrides: { firehose: 'a AND b' }, options: { firehose: { quality: false } } };
    expect(await isError(server.client, changes)).toBe(false);
    expect(asked.find(({ path }) => path === 'PreviewRule')?.body).toEqual({
      platforms: ['x', 'firehose'],
      overrides: { x: present, firehose: 'a AND b' },
      options: { firehose: { quality: false } },
    });
  });

  test.each([
    ['a query that costs less than the present one', broad, { [present]: 30, rust: 18 }],
    ['a query below the bound', broad, { [present]: 1, rust: 5 }],
    ['a smaller budget', { budget: 'usd=4/day' }, { [present]: 30 }],
    ['the same query', { overrides: { x: present } }, { [present]: 30 }],
    ['a new name', { name: 'b' }, { [present]: 30 }],
  ])('does not ask about %s', async (_, changes, usd) => {
    const { ask, changes: made } = api({ PreviewRule: costs(usd) });
    await using server = await connectInProcess(ask);
    expect(await isError(server.client, changes)).toBe(false);
    expect(made()).toHaveLength(1);
  });

  test.each([
    ['a larger budget', { budget: 'usd=6/day' }, rule],
    ['no budget', { budget: null }, rule],
    ['a budget above the bound for a rule without one', { budget: 'usd=6/day' }, { ...rule, budget: null }],
  ])('asks about %s of a rule above the bound', async (_, changes, GetRule) => {
    const { ask, changes: made } = api({ GetRule, PreviewRule: costs({ [present]: 18 }) });
    await using server = await connectInProcess(ask);
    expect(await isError(server.client, changes)).toBe(true);
    expect(made()).toEqual([]);
  });

  test('does not ask about a paused rule, which costs nothing until it is resumed', async () => {
    const { ask, changes } = api({ GetRule: pausedRule, PreviewRule: costs({ rust: 18 }) });
    await using server = await connectInProcess(ask);
    expect(await isError(server.client, broad)).toBe(false);
    expect(changes()).toHaveLength(1);
  });
});

test.each([{ mode: { pin: '2026-07-28' } }, { mode: 'legacy' as const }])(
  'over a connection that stays, clients of all protocols are asked ($mode)',
  async ({ mode }) => {
    const { ask, changes } = api({ PreviewRule: preview(18) });
    const earshot = createEarshot({ url: 'http://earshot.invalid', key: 'esk_test', fetch: ask });
    const [transport, ofClient] = InMemoryTransport.createLinkedPair();
    const faults: unknown[] = [];
    const options = { earshot, confirmAboveUsd: 5, onFault: (error: unknown) => faults.push(error) };
    serveStdio(() => createMcpServer(options), { transport });
    const capabilities = { elicitation: { form: {} } };
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode }, capabilities });
    let questions = 0;
    client.setRequestHandler('elicitation/create', async () => {
      questions += 1;
      return { action: 'accept' };
    });
    await client.connect(ofClient);
    const result = await client.callTool({ name: 'create_rule', arguments: { ...draft } });
    await client.close();
    expect([result.isError ?? false, questions, changes().length, faults]).toEqual([false, 1, 1, []]);
  },
);

test('a rule that is resumed is estimated with its own values and options', async () => {
  const firehose = { ...pausedRule.platforms.x, value: 'a AND b', options: { quality: false } };
  const { ask, asked } = api({
    GetRule: { ...pausedRule, platforms: { firehose } },
    PreviewRule: preview(1),
  });
  await using server = await connectInProcess(ask);
  await server.client.callTool({ name: 'resume_rule', arguments: oneRule });
  expect(asked.find(({ path }) => path === 'PreviewRule')?.body).toEqual({
    platforms: ['firehose'],
    overrides: { firehose: 'a AND b' },
    options: { firehose: { quality: false } },
  });
});

test('estimates of several platforms count together', async () => {
  const both = { x: { ...previewed.platforms.x, estimate: estimate(3) } };
  const { ask, changes } = api({ PreviewRule: { platforms: { ...both, firehose: both.x } } });
  await using server = await connectInProcess(ask);
  const args = { ...draft, platforms: ['x', 'firehose'], overrides: { x: 'a', firehose: 'a' } };
  expect((await server.client.callTool({ name: 'create_rule', arguments: args })).isError).toBe(true);
  expect(changes()).toEqual([]);
});

describe('budgets', () => {
  test.each([
    ['create_rule', { ...draft, accept_estimate: true }],
    ['update_rule', { ...oneRule, accept_estimate: true }],
  ])('of %s are one text', async (tool, args) => {
    const { ask, asked } = api({});
    await using server = await connectInProcess(ask);
    await server.client.callTool({ name: tool, arguments: { ...args, budget: 'usd=5/day' } });
    expect(asked[0]?.body).toMatchObject({ budget: { period: 'day', usd: 5, on_reached: 'pause' } });
    const wrong = await server.client.callTool({ name: tool, arguments: { ...args, budget: '$5' } });
    expect(wrong.isError).toBe(true);
    expect(JSON.stringify(wrong.content)).toContain('usd=5/day');
    expect(asked).toHaveLength(1);
  });

  test('are taken away by null, and shown with what is spent', async () => {
    const { ask, asked } = api({});
    await using server = await connectInProcess(ask);
    await server.client.callTool({
      name: 'update_rule',
      arguments: { ...oneRule, budget: null, accept_estimate: true },
    });
    expect(asked[0]?.body).toMatchObject({ budget: null });
    const { structuredContent } = await server.client.callTool({ name: 'get_rule', arguments: oneRule });
    expect(structuredContent).toMatchObject({
      budget: 'usd=5/day: 0.045 spent, 4.955 left until 2026-11-15T00:00:00.000Z',
    });
  });
});

test('get_usage shows the newest days and counts the others', async () => {
  const [row] = operations.GetUsage.example.answer.usage;
  const days = Array.from({ length: 70 }, (_, n) => ({ ...row, day: `day ${n}` }));
  const { ask } = api({ GetUsage: { ...operations.GetUsage.example.answer, usage: days } });
  await using server = await connectInProcess(ask);
  const usage = await server.client.callTool({ name: 'get_usage', arguments: { by: 'day' } });
  const told = Object(usage.structuredContent);
  expect(told).toMatchObject({ left_out: 10, total: { matches: 215, usd: '1.0525 to 3.1575' } });
  expect(told.usage.at(-1)).toEqual({ day: 'day 69', platform: 'x', matches: 120, usd: '0.6 to 1.8' });
  const dearest = await server.client.callTool({ name: 'get_usage', arguments: { by: 'rule' } });
  expect(Object(dearest.structuredContent).usage[0].day).toBe('day 0');
});
