import { type OperationId, operations } from '@earshot/contract';
import { eventually } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Answer, Api } from './src/api.ts';
import { shareWorld } from './src/shared-world.ts';
import type { World } from './src/world.ts';

/*
 * The specification's tables, independent of the contract. The fields of its sections 2 and 4 must be in every answer
 * with that name and type. Answers may have more fields; the strict schemas of the contract list them and reject
 * all others.
 */
type Fields = Readonly<Record<string, 'string' | 'object' | 'array'>>;

const ruleFields: Fields = {
  id: 'string',
  name: 'string',
  intent: 'string',
  platforms: 'object',
  created_at: 'string',
};
const platformRuleFields: Fields = { platform_rule_id: 'string', translated_value: 'string' };
const matchFields: Fields = {
  id: 'string',
  created_at: 'string',
  platform: 'string',
  platform_post_id: 'string',
  payload: 'object',
};

const newRule = {
  name: 'Vulkane & 火山 🌋',
  intent: 'Know about eruptions',
  platforms: ['x', 'firehose'],
  overrides: { x: 'lang:en volcano', firehose: 'title:"volcano"' },
};

type Specified = Extract<
  OperationId,
  'CreateRule' | 'ListRules' | 'DeleteRule' | 'ListMatches' | 'PlatformSyntax'
>;

let world: World;
let api: Api;
let ruleId: string;
/** The successful HTTP answer of each operation. */
let answers: Record<Specified, Answer>;

beforeAll(async () => {
  world = await shareWorld();
  api = (await world.startServer()).api(await world.newAccount());
  const CreateRule = await api.call('POST', '/api.CreateRule', newRule);
  ruleId = operations.CreateRule.answer.parse(CreateRule.json).rule_id;
  await world.sandbox.posts(['the volcano wakes']);
  await world.sandbox.pages([{ url: 'https://news.example/v', title: 'A volcano', text: 'lava' }]);
  await eventually(async () => expect(await api.allMatches()).toHaveLength(2), { timeoutMs: 10_000 });
  const ListRules = await api.call('GET', '/api.ListRules');
  const ListMatches = await api.call('POST', '/matches', { rule_id: ruleId, platform: 'x', limit: 10 });
  const PlatformSyntax = await api.call('POST', '/platforms/syntax', { platforms: ['x', 'firehose'] });
  const DeleteRule = await api.call('POST', '/api.DeleteRule', { rule_id: ruleId });
  answers = { CreateRule, ListRules, ListMatches, PlatformSyntax, DeleteRule };
});
afterAll(() => world?.[Symbol.asyncDispose]());

const specified: ReadonlyArray<readonly [Specified, string]> = [
  ['CreateRule', 'POST /api.CreateRule'],
  ['ListRules', 'GET /api.ListRules'],
  ['DeleteRule', 'POST /api.DeleteRule'],
  ['ListMatches', 'POST /matches'],
  ['PlatformSyntax', 'POST /platforms/syntax'],
];

describe('the operations of the specification', () => {
  test.each(specified)('%s is %s', (id, methodAndPath) => {
    expect(`${operations[id].method} ${operations[id].path}`).toBe(methodAndPath);
  });

  test.each(specified)('%s answers 200 with JSON in UTF-8 and nothing beyond its schema', (id) => {
    const { status, headers, json } = answers[id];
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(headers.get('x-request-id')).toMatch(/^req_\w+$/);
    expect(operations[id].answer.safeParse(json).error).toBeUndefined();
  });

  test('CreateRule answers rule_id and, per platform, platform_rule_id and translated_value', () => {
    const created = expectFields(answers.CreateRule.json, { rule_id: 'string', platforms: 'object' });
    const platforms = expectFields(created['platforms'], { x: 'object', firehose: 'object' });
    expect(Object.keys(platforms)).toEqual(newRule.platforms);
    for (const result of Object.values(platforms)) expectFields(result, platformRuleFields);
    expect(platforms).toMatchObject({
      x: { translated_value: newRule.overrides.x },
      firehose: { translated_value: newRule.overrides.firehose },
    });
  });

  test('ListRules answers rules with every field of the table, as they were given', () => {
    const { rules } = operations.ListRules.answer.parse(answers.ListRules.json);
    expect(rules).toHaveLength(1);
    const rule = expectFields(rules[0], ruleFields);
    expect(rule).toMatchObject({ id: ruleId, name: newRule.name, intent: newRule.intent });
    expect(expectFields(rule['platforms'], { x: 'object', firehose: 'object' })).toMatchObject({
      x: { translated_value: newRule.overrides.x, rule_type: 'premium', match_count: 1 },
      firehose: { translated_value: newRule.overrides.firehose, rule_type: 'regular', match_count: 1 },
    });
  });

  test('a rule has the same upstream ids in the list as in the answer to its creation', () => {
    const created = operations.CreateRule.answer.parse(answers.CreateRule.json).platforms;
    const [rule] = operations.ListRules.answer.parse(answers.ListRules.json).rules;
    expect(rule?.platforms.x?.platform_rule_id).toBe(created.x?.platform_rule_id);
    expect(rule?.platforms.firehose?.platform_rule_id).toBe(created.firehose?.platform_rule_id);
  });

  test('ListMatches answers matches with every field of the table', () => {
    const listed = expectFields(answers.ListMatches.json, { matches: 'array' });
    const { matches } = operations.ListMatches.answer.parse(listed);
    expect(matches).toHaveLength(1);
    expect(expectFields(matches[0], matchFields)).toMatchObject({
      platform: 'x',
      payload: { text: 'the volcano wakes' },
    });
  });

  test('PlatformSyntax answers one guide per platform, with the rule type of the table', () => {
    const { platforms } = operations.PlatformSyntax.answer.parse(answers.PlatformSyntax.json);
    expect(platforms.x?.rule_type).toBe('premium');
    expect(platforms.firehose?.rule_type).toBe('regular');
  });

  test('PlatformSyntax explains only the requested platforms, and both by default', async () => {
    const keysFor = async (request: object) => {
      const { json } = await api.call('POST', '/platforms/syntax', request);
      return Object.keys(operations.PlatformSyntax.answer.parse(json).platforms);
    };
    expect(await keysFor({ platforms: ['firehose'] })).toEqual(['firehose']);
    expect(await keysFor({ platforms: ['x'] })).toEqual(['x']);
    expect(await keysFor({})).toEqual(['x', 'firehose']);
  });

  test('DeleteRule answers the id and the time, and a second delete finds nothing', async () => {
    expectFields(answers.DeleteRule.json, { rule_id: 'string', deleted_at: 'string' });
    expect(answers.DeleteRule.json).toMatchObject({ rule_id: ruleId });
    expect((await api.call('POST', '/api.DeleteRule', { rule_id: ruleId })).status).toBe(404);
    expect((await api.listRules()).rules).toEqual([]);
    expect((await api.matches()).matches).toEqual([]);
  });
});

describe('x-request-id', () => {
  test.each(['a', 'A-z_0.9', 'f'.repeat(128)])('a valid id is returned: %s', async (id) => {
    expect(await requestIdFor({ 'x-request-id': id })).toBe(id);
  });

  test.each(['', 'with space', 'f'.repeat(129), 'quote"', 'semi;colon', 'é', '<b>', 'a, b'])(
    'an invalid id is replaced: "%s"',
    async (id) => {
      expect(await requestIdFor({ 'x-request-id': id })).toMatch(/^req_\w+$/);
    },
  );

  test('two requests without an id get two different ones', async () => {
    expect(await requestIdFor({})).not.toBe(await requestIdFor({}));
  });

  async function requestIdFor(headers: Record<string, string>) {
    return (await api.call('GET', '/api.ListRules', undefined, headers)).headers.get('x-request-id');
  }
});

function expectFields(value: unknown, fields: Fields): Record<string, unknown> {
  const object = Object.fromEntries(Object.entries(Object(value)));
  const typeOf = (field: unknown) =>
    Array.isArray(field) ? 'array' : field === null ? 'null' : typeof field;
  const types = Object.keys(fields).map((name) => [name, typeOf(object[name])]);
  expect(Object.fromEntries(types)).toEqual(fields);
  return object;
}
