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
  usd_per_month: { min: max * 10, max: max * 30 },
});
const preview = (max: number) => ({
  platforms: { x: { ...previewed.platforms.x, estimate: estimate(max) } },
});
const pause = { reason: 'request', resumes_at: null };
const pausedRule = { ...operations.GetRule.example.answer, state: 'paused', pause };

/** Answers as the API would, and records the requests. */
function api(answers: Readonly<Record<string, unknown>>) {
  const requests: { path: string; body: unknown }[] = [];
  const ask: typeof fetch = async (input, init) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    const path = pathname.replace('/api.', '');
    requests.push({ path, body: typeof init?.body === 'string' ? JSON.parse(init.body) : null });
    const example = Object.values(operations).find(({ id }) => id === path)?.example.answer;
    const given = answers[path] ?? example;
    const answer = typeof given === 'function' ? given(requests.at(-1)?.body) : given;
    return answer instanceof Response ? answer.clone() : jsonAnswer(answer);
  };
  return {
    ask,
    requests,
    changes: () => requests.filter(({ path }) => /^(Create|Update|Resume)/.test(path)),
  };
}

const starting = [
  { tool: 'create_rule', args: draft, name: 'Rust\\u{202e}' },
  { tool: 'resume_rule', args: oneRule, name: pausedRule.name },
];

describe.each(starting)('$tool', ({ tool, args, name }) => {
  const call = { name: tool, arguments: { ...args } };

  test('continues below the bound, or above it if the estimate is accepted', async () => {
    const { ask, changes } = api({ PreviewRule: preview(5), GetRule: pausedRule });
    await using cheap = await connectInProcess(ask);
    expect((await cheap.client.callTool(call)).isError ?? false).toBe(false);
    const expensive = api({ PreviewRule: preview(5.01), GetRule: pausedRule });
    await using server = await connectInProcess(expensive.ask);
    const accepted = { ...args, accept_estimate: true };
    const result = await server.client.callTool({ name: tool, arguments: accepted });
    expect(result.isError ?? false).toBe(false);
    expect([changes().length, expensive.requests.length]).toEqual([1, 1]);
    expect(expensive.changes()[0]?.body).toMatchObject({ accept_estimate: true });
  });

  test.each([{ mode: { pin: '2026-07-28' } }, { mode: 'legacy' as const }])(
    'returns the cost and the argument to send if the client cannot ask its user ($mode)',
    async ({ mode }) => {
      const { ask, changes } = api({ PreviewRule: preview(18), GetRule: pausedRule });
      await using server = await connectInProcess(ask, mode);
      const result = await server.client.callTool(call);
      expect(result.isError).toBe(true);
      const content = JSON.stringify(result.content);
      expect(content).toContain('failed_precondition: The rule');
      expect(content).toContain('3600 (5000 on the busiest of 7 days) matches and 6 to 18 US dollars a day');
      expect(content).toContain('accept_estimate: true');
      expect(changes()).toEqual([]);
    },
  );

  test('asks the user if the client can, and continues if they agree', async () => {
    const { ask, requests, changes } = api({ PreviewRule: preview(18), GetRule: pausedRule });
    const questions: string[] = [];
    await using server = await connectInProcess(ask, { pin: '2026-07-28' }, (question) => {
      questions.push(question);
      expect(changes()).toEqual([]);
      return 'accept';
    });
    const result = await server.client.callTool(call);
    expect(result.isError ?? false).toBe(false);
    expect(questions).toEqual([expect.stringContaining(`The rule "${name}" is estimated at 3600`)]);
    expect(changes()).toMatchObject([{ body: { accept_estimate: true } }]);
    // The estimate that the user has accepted is not requested again.
    expect(requests.filter(({ path }) => path === 'PreviewRule')).toHaveLength(1);
    expect(server.answers.join()).toContain('"resultType":"input_required"');
  });

  test.each(['decline', 'cancel'] as const)('does nothing if the user answers %s', async (answer) => {
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
  ])('continues if the estimate is %s, because budgets limit the rule', async (_, PreviewRule) => {
    const { ask, changes } = api({ PreviewRule, GetRule: pausedRule });
    await using server = await connectInProcess(ask);
    expect((await server.client.callTool(call)).isError ?? false).toBe(false);
    expect(changes()).toHaveLength(1);
  });

  test('asks the user if the API refuses an estimate above the budget', async () => {
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
    // This API refuses again. The user must not be asked twice.
    expect((await asking.client.callTool(call)).isError).toBe(true);
    expect(questions).toEqual(['Above the budget of $1 a day. Continue?']);
    expect(changes()[1]?.body).toMatchObject({ accept_estimate: true });
    await using mute = await connectInProcess(ask);
    const result = await mute.client.callTool(call);
    expect(JSON.stringify(result.content)).toContain('accept_estimate: true');
  });
});

describe('update_rule', () => {
  const rule = operations.GetRule.example.answer;
  const present = rule.platforms.x.value;
  /** Costs of queries a day, by query text. */
  const costs = (usd: Readonly<Record<string, number>>) => (draft: unknown) =>
    preview(usd[Object(draft).overrides.x] ?? 0);
  const update = (changes: object) => ({ name: 'update_rule', arguments: { ...oneRule, ...changes } });
  const isError = async (client: Client, changes: object) =>
    (await client.callTool(update(changes))).isError ?? false;
  const broad = { overrides: { x: 'rust' } };

  test('needs an accepted estimate to raise the cost of a rule above the bound', async () => {
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

  test('estimates the platforms and options that the rule has after the change', async () => {
    const { ask, requests } = api({ PreviewRule: preview(1) });
    await using server = await connectInProcess(ask);
    const changes = { overrides: { firehose: 'a AND b' }, options: { firehose: { quality: false } } };
    expect(await isError(server.client, changes)).toBe(false);
    expect(requests.find(({ path }) => path === 'PreviewRule')?.body).toEqual({
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
    ['no budget', { budget: 'none' }, rule],
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
  'asks clients of all protocols over a stdio connection ($mode)',
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

test('resume_rule estimates the rule with its own queries and options', async () => {
  const firehose = { ...pausedRule.platforms.x, value: 'a AND b', options: { quality: false } };
  const { ask, requests } = api({
    GetRule: { ...pausedRule, platforms: { firehose } },
    PreviewRule: preview(1),
  });
  await using server = await connectInProcess(ask);
  await server.client.callTool({ name: 'resume_rule', arguments: oneRule });
  expect(requests.find(({ path }) => path === 'PreviewRule')?.body).toEqual({
    platforms: ['firehose'],
    overrides: { firehose: 'a AND b' },
    options: { firehose: { quality: false } },
  });
});

test('estimates of several platforms are added up', async () => {
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
  ])('are one text in %s', async (tool, args) => {
    const { ask, requests } = api({});
    await using server = await connectInProcess(ask);
    await server.client.callTool({ name: tool, arguments: { ...args, budget: 'usd=5/day' } });
    expect(requests[0]?.body).toMatchObject({ budget: { period: 'day', usd: 5, on_reached: 'pause' } });
    const wrong = await server.client.callTool({ name: tool, arguments: { ...args, budget: '$5' } });
    expect(wrong.isError).toBe(true);
    expect(JSON.stringify(wrong.content)).toContain('usd=5/day');
    expect(requests).toHaveLength(1);
  });

  test('are removed by null, and shown with their spending', async () => {
    const { ask, requests } = api({});
    await using server = await connectInProcess(ask);
    await server.client.callTool({
      name: 'update_rule',
      arguments: { ...oneRule, budget: 'none', accept_estimate: true },
    });
    expect(requests[0]?.body).toMatchObject({ budget: null });
    const { structuredContent } = await server.client.callTool({ name: 'get_rule', arguments: oneRule });
    expect(structuredContent).toMatchObject({
      budget: 'usd=5/day: 0.045 spent, 4.955 left (0.0175 may still arrive) until 2026-11-15T00:00:00.000Z',
    });
  });
});

test('get_usage shows the newest days and counts the others', async () => {
  const [row] = operations.GetUsage.example.answer.usage;
  const days = Array.from({ length: 70 }, (_, n) => ({ ...row, day: `day ${n}` }));
  const { ask } = api({ GetUsage: { ...operations.GetUsage.example.answer, usage: days } });
  await using server = await connectInProcess(ask);
  const usage = await server.client.callTool({ name: 'get_usage', arguments: { by: 'day' } });
  const byDay = Object(usage.structuredContent);
  expect(byDay).toMatchObject({ left_out: 10, total: { matches: 215, usd: '1.0525 to 3.1575' } });
  expect(byDay.usage.at(-1)).toEqual({ day: 'day 69', platform: 'x', matches: 120, usd: '0.6 to 1.8' });
  const byRule = await server.client.callTool({ name: 'get_usage', arguments: { by: 'rule' } });
  expect(Object(byRule.structuredContent).usage[0].day).toBe('day 0');
});
