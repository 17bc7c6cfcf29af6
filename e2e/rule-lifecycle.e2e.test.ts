import { eventually } from '@earshot/testkit';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Api } from './src/api.ts';
import { type ServerUnderTest, startWorld, tapToken, type World, xToken } from './src/world.ts';

let world: World;
let server: ServerUnderTest;
let api: Api;

beforeAll(async () => {
  // More changes than X allows at once: this test is not about waiting for them.
  world = await startWorld({ sandbox: { rateLimits: false } });
  server = await world.startServer({ EARSHOT_TEST: 'keepOldValueMs=0,upstreamPace=100' });
  api = server.api(await world.newAccount());
});
afterAll(() => world?.[Symbol.asyncDispose]());

/** Each test begins with an empty account and an empty upstream. */
afterEach(async () => {
  await world.sandbox.clearFaults();
  for (const { id } of (await api.listRules()).rules) await api.deleteRule(id);
  await expectUpstream([]);
});

const withinMs = { timeoutMs: 15_000 };
const xValues = async () => (await world.sandbox.xState(xToken)).rules.map(({ value }) => value);
const firehoseValues = async () =>
  (await world.sandbox.firehoseState(tapToken)).rules.map(({ value }) => value);
const codeOf = (answer: { json: unknown }) => Object(answer.json).code;
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();

async function expectUpstream(x: readonly string[], firehose: readonly string[] = []): Promise<void> {
  await eventually(async () => {
    expect(await xValues()).toEqual(x);
    expect(await firehoseValues()).toEqual(firehose);
  }, withinMs);
}

async function expectTexts(ruleId: string, texts: readonly string[]): Promise<void> {
  await eventually(async () => {
    const matches = await api.allMatches({ rule_id: ruleId });
    expect(matches.map(({ payload }) => payload.text)).toEqual(texts);
  }, withinMs);
}

test("an update that a platform refuses leaves the rule as it was and working, and returns the platform's message", async () => {
  const { rule_id } = await api.createRule({ x: 'steady', firehose: 'steady' });
  const before = await api.getRule(rule_id);
  await world.sandbox.arm({
    kind: 'rule_refused',
    platform: 'firehose',
    count: 1,
    message: 'Not this one',
    contains: 'shaky',
  });
  const answer = await api.call('POST', '/api.UpdateRule', {
    rule_id,
    name: 'new name',
    platforms: ['x', 'firehose'],
    overrides: { x: 'shaky', firehose: 'shaky' },
  });
  expect(await world.sandbox.fired()).toEqual([1]);
  expect(answer).toMatchObject({
    status: 400,
    json: {
      code: 'invalid_argument',
      details: { violations: [{ field: 'overrides.firehose', message: 'Not this one' }] },
    },
  });
  expect(await api.getRule(rule_id)).toEqual(before);
  await eventually(
    async () => expect([await xValues(), await firehoseValues()]).toEqual([['steady'], ['added:"steady"']]),
    { timeoutMs: 30_000 },
  );
  await world.sandbox.posts(['shaky ground', 'steady ground']);
  await expectTexts(rule_id, ['steady ground']);
});

test('PauseRule and ResumeRule stop and start the rule; its matches stay listed', async () => {
  const { rule_id } = await api.createRule({ x: 'tide', firehose: 'tide' });
  await world.sandbox.posts(['tide one']);
  await expectTexts(rule_id, ['tide one']);
  const paused = await api.pauseRule(rule_id);
  expect(paused).toMatchObject({ state: 'paused', version: 1, platforms: { x: { status: 'paused' } } });
  await expectUpstream([]);
  await world.sandbox.posts(['tide two']);
  await expectTexts(rule_id, ['tide one']);

  const resumed = await api.resumeRule(rule_id);
  expect(resumed).toMatchObject({
    state: 'active',
    version: 1,
    platforms: { firehose: { status: 'active' } },
  });
  await world.sandbox.posts(['tide three']);
  await expectTexts(rule_id, ['tide one', 'tide three']);
});

test('alerts are switched on at the creation, stay when another field changes, and are switched off by null', async () => {
  const created = await api.call('POST', '/api.CreateRule', {
    name: 'alerting',
    intent: 'to notice changes',
    platforms: ['x'],
    overrides: { x: 'lantern' },
    alerts: 'medium',
  });
  expect(created.json).toMatchObject({ alerts: 'medium' });
  const { rule_id } = Object(created.json);
  expect(await api.updateRule(rule_id, { name: 'still alerting' })).toMatchObject({ alerts: 'medium' });
  expect(await api.updateRule(rule_id, { alerts: 'low' })).toMatchObject({ alerts: 'low' });
  expect(await api.updateRule(rule_id, { alerts: null })).toMatchObject({ alerts: null });
  expect(await api.getRule(rule_id)).toMatchObject({ alerts: null });
  await api.deleteRule(rule_id);
});

test('expires_at pauses the rule; it can be resumed after expires_at is changed', async () => {
  const created = await api.call('POST', '/api.CreateRule', {
    name: 'short',
    intent: 'to end soon',
    platforms: ['x'],
    overrides: { x: 'candle' },
    expires_at: inMs(2_000),
  });
  const { rule_id } = Object(created.json);
  expect(await api.getRule(rule_id)).toMatchObject({ state: 'active' });
  await world.sandbox.posts(['candle burns']);
  await expectTexts(rule_id, ['candle burns']);
  await eventually(async () => {
    expect(await api.getRule(rule_id)).toMatchObject({ state: 'paused' });
    expect(await xValues()).toEqual([]);
  }, withinMs);
  await expectTexts(rule_id, ['candle burns']);
  const refused = await api.call('POST', '/api.ResumeRule', { rule_id });
  expect([refused.status, codeOf(refused)]).toEqual([400, 'failed_precondition']);
  expect(await api.updateRule(rule_id, { expires_at: null })).toMatchObject({ state: 'paused' });
  expect(await api.resumeRule(rule_id)).toMatchObject({ state: 'active', expires_at: null });
});
