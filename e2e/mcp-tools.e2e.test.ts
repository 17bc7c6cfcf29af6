import { eventually } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Agent, overHttp, startAgent } from './src/mcp-agent.ts';
import { shareWorld } from './src/shared-world.ts';
import type { Account, ServerUnderTest, World } from './src/world.ts';

let world: World;
let server: ServerUnderTest;
let account: Account;
let agent: Agent;
beforeAll(async () => {
  world = await shareWorld();
  server = await world.startServer();
  account = await world.newAccount();
  await world.admin.setLimits(account.accountId, { readers: 2 });
  agent = await startAgent(overHttp({ url: server.url, key: account.key }));
});
afterAll(async () => {
  await agent?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

const rule = z.looseObject({
  version: z.number(),
  expires_at: z.string().nullable(),
  platforms: z.record(z.string(), z.looseObject({ translated_value: z.string() })),
});
const created = z.looseObject({ rule_id: z.string() });
const both = { name: 'a', intent: 'b', platforms: ['x', 'firehose'] };
const valuesOf = ({ platforms }: z.output<typeof rule>) =>
  Object.fromEntries(Object.entries(platforms).map(([name, on]) => [name, on.translated_value]));

describe('update_rule', () => {
  const create = (word: string) =>
    agent.call('create_rule', { ...both, overrides: { x: word, firehose: word } }, created);

  test.each([
    { how: 'overrides alone', platforms: undefined },
    { how: 'the same platforms named beside', platforms: ['x'] },
  ])('leaves a platform that is not named as it is: $how', async ({ platforms }) => {
    const { rule_id } = await create(platforms ? 'mergedone' : 'mergedtwo');
    const before = await agent.call('get_rule', { rule_id }, rule);
    const change = { rule_id, ...(platforms && { platforms }), overrides: { x: 'changed' } };
    const changed = await agent.call('update_rule', change, rule);
    expect(valuesOf(changed)).toEqual({ ...valuesOf(before), x: 'changed' });
    // The same again changes nothing.
    expect((await agent.call('update_rule', change, rule)).version).toBe(changed.version);
  });

  test('leaves a platform when it is asked to', async () => {
    const { rule_id } = await create('leaving');
    const left = await agent.call('update_rule', { rule_id, platforms: ['x'] }, rule);
    expect(Object.keys(left.platforms)).toEqual(['x']);
  });

  test('takes options, examples and times as people write them', async () => {
    const { rule_id } = await create('optional');
    const examples = { must_match: [{ platform: 'x', payload: { text: 'an optional thing' } }] };
    const options = { firehose: { quality: false, nsfw: true } };
    await agent.call('update_rule', { rule_id, options, examples, expires_at: '2090-01-31' }, rule);
    const { rules } = await server.api(account).listRules();
    expect(rules.find(({ id }) => id === rule_id)).toMatchObject({
      expires_at: '2090-01-31T00:00:00.000Z',
      examples: { must_match: examples.must_match },
      platforms: { firehose: { options: options.firehose } },
    });
    const wrong = { must_match: [{ platform: 'x', payload: { text: 'something else' } }] };
    const { violations } = await agent.refused('update_rule', { rule_id, examples: wrong });
    expect(violations).toMatchObject([{ field: 'examples.must_match.0' }]);
  });
});

describe('examples', () => {
  const draft = { platforms: ['x'], overrides: { x: 'heat pump' } };
  const unwanted = { must_not_match: [{ platform: 'x', payload: { text: 'heat the pump' } }] };

  test('are checked by validate_rule', async () => {
    const checked = z.object({
      platforms: z.object({ x: z.object({ valid: z.boolean() }) }),
      example_violations: z.array(z.object({ field: z.string() })),
    });
    const answer = await agent.call('validate_rule', { ...draft, examples: unwanted }, checked);
    expect(answer).toMatchObject({
      platforms: { x: { valid: false } },
      example_violations: [{ field: 'examples.must_not_match.0' }],
    });
  });

  test('keep create_rule from a rule that they contradict', async () => {
    const { violations } = await agent.refused('create_rule', {
      name: 'a',
      intent: 'b',
      ...draft,
      examples: unwanted,
    });
    expect(violations).toMatchObject([{ field: 'examples.must_not_match.0' }]);
  });
});

describe('readers', () => {
  const wait = (reader: string) => agent.read('wait_for_matches', { reader, wait_seconds: 0 });
  const names = z.looseObject({ readers: z.array(z.looseObject({ name: z.string() })) });

  test('when there are too many, an agent finds one to delete and goes on', async () => {
    await wait('first');
    await wait('second');
    const refusal = await agent.refused('wait_for_matches', { reader: 'third', wait_seconds: 0 });
    expect(refusal).toMatchObject({ code: 'resource_exhausted', limit: 2, used: 2 });
    expect(refusal.what_to_do).toContain('delete_reader (list_readers)');
    const { readers } = await agent.call('list_readers', {}, names);
    expect(readers.map(({ name }) => name)).toEqual(['first', 'second']);
    await agent.call('delete_reader', { reader: 'first' }, z.looseObject({ reader: z.literal('first') }));
    await wait('third');
  });

  test('a cursor that is none is told by the name that it has here', async () => {
    const refusal = await agent.refused('wait_for_matches', { reader: 'second', ack: 'nonsense' });
    expect(refusal.violations).toMatchObject([{ field: 'ack', message: expect.stringContaining('"ack"') }]);
    expect(JSON.stringify(refusal)).not.toContain('cursor"');
  });
});

test('a new reader begins now', async () => {
  const { key } = await world.newAccount();
  await using other = await startAgent(overHttp({ url: server.url, key }));
  const { rule_id } = await other.call(
    'create_rule',
    { name: 'a', intent: 'b', platforms: ['x'], overrides: { x: 'beginnings' } },
    created,
  );
  await world.sandbox.posts(['beginnings one']);
  await eventually(async () => expect((await other.read('list_matches', { rule_id })).counts.found).toBe(1), {
    timeoutMs: 30_000,
  });
  const read = (args: object) => other.read('wait_for_matches', { rule_id, wait_seconds: 0, ...args });
  expect((await read({ reader: 'now' })).counts.found).toBe(0);
  expect((await read({ reader: 'all', start: 'oldest' })).counts.found).toBe(1);
});

describe('times', () => {
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);

  test.each([
    { given: yesterday, read: `${yesterday}T00:00:00.000Z` },
    { given: `${yesterday}T12:00:00+02:00`, read: `${yesterday}T10:00:00.000Z` },
    { given: '2d', read: null },
  ])('$given is taken', async ({ given, read }) => {
    const before = Date.now();
    const { from } = await agent.call('get_coverage', { from: given }, z.looseObject({ from: z.string() }));
    if (read === null) expect(Date.parse(from)).toBeGreaterThanOrEqual(before - 2 * 86_400_000);
    else expect(from).toBe(read);
    await agent.call('get_usage', { from: given }, z.looseObject({}));
    expect((await agent.read('list_matches', { since: given })).counts.found).toBe(0);
  });

  test('what is no time is refused, with its argument', async () => {
    for (const [tool, field] of [
      ['list_matches', 'until'],
      ['get_coverage', 'to'],
      ['get_usage', 'from'],
    ] as const) {
      const { violations } = await agent.refused(tool, { [field]: 'yesterday' });
      expect(violations).toMatchObject([{ field, message: expect.stringContaining('2h') }]);
    }
  });
});
