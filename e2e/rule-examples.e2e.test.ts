import { type ErrorEnvelope, operations, type Rule } from '@earshot/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Api } from './src/api.ts';
import { shareWorld } from './src/shared-world.ts';
import { type World, xToken } from './src/world.ts';

let world: World;
let api: Api;

beforeAll(async () => {
  world = await shareWorld();
  const server = await world.startServer();
  api = server.api(await world.newAccount());
});
afterAll(() => world?.[Symbol.asyncDispose]());

const post = (text: string, more: object = {}) => ({ platform: 'x', payload: { text, ...more } });
const page = (text: string) => ({ platform: 'firehose', payload: { text } });

const rule = (more: object = {}) => ({
  name: 'Rockets',
  intent: 'to try examples',
  platforms: ['x'],
  overrides: { x: 'rocket (launch OR landing) -lang:de' },
  ...more,
});

async function refused(path: string, request: object): Promise<ErrorEnvelope> {
  const answer = await api.call('POST', path, request);
  expect(answer.status).toBe(400);
  return answer.json as ErrorEnvelope;
}

async function created(request: object) {
  const answer = await api.call('POST', '/api.CreateRule', request);
  expect(answer.status).toBe(200);
  return operations.CreateRule.answer.parse(answer.json);
}

describe('CreateRule', () => {
  test('refuses a rule whose examples fail: every one, with the clause that decided, and nothing is registered', async () => {
    const examples = {
      must_match: [post('A rocket launch'), post('A rocket'), post('rocket launch', { language: 'de' })],
      must_not_match: [post('A rocket launch game', { language: 'en' }), page('rocket')],
    };
    const { code, details } = await refused('/api.CreateRule', rule({ examples }));
    expect(code).toBe('invalid_argument');
    expect(details.violations).toEqual([
      {
        field: 'examples.must_match.1',
        code: 'example_failed',
        message: 'Must match, but "launch" decides: the words are not in the post.',
        span: { start: 8, end: 14 },
      },
      {
        field: 'examples.must_match.2',
        code: 'example_failed',
        message: 'Must match, but "-lang:de" decides: the item has "de".',
        span: { start: 27, end: 35 },
      },
      {
        field: 'examples.must_not_match.0',
        code: 'example_failed',
        message: 'Must not match, but "rocket" decides: the item has "rocket".',
        span: { start: 0, end: 6 },
      },
      {
        field: 'examples.must_not_match.1',
        code: 'invalid_value',
        message: 'The rule is not on "firehose".',
      },
    ]);
    expect((await api.listRules()).rules).toEqual([]);
    expect((await world.sandbox.xState(xToken)).rules).toEqual([]);
  });

  test('warns of an example that does not decide, keeps all of them, and every way to read the rule shows them', async () => {
    const examples = {
      must_match: [post('A rocket launch', { language: 'en' }), post('rocket landing')],
      must_not_match: [post('rocket launch', { language: 'de', author: { handle: 'esa', name: null } })],
    };
    const answer = await created(rule({ examples }));
    expect(answer.platforms.x?.warnings).toEqual([
      expect.objectContaining({
        severity: 'warning',
        code: 'example_undecided',
        message: expect.stringContaining('examples.must_match.1: '),
        span: { start: 27, end: 35 },
      }),
    ]);
    expect((await api.getRule(answer.rule_id)).examples).toEqual(examples);
    const { rules } = operations.ListRules.answer.parse(await api.listRules());
    expect(rules.map((one: Rule) => one.examples)).toEqual([examples]);
    await api.deleteRule(answer.rule_id);
  });
});

describe('a version that the caller has seen', () => {
  test('protects a rule that was changed meanwhile from being changed or deleted', async () => {
    const { rule_id } = await created(rule());
    await api.updateRule(rule_id, { name: 'Changed by somebody', if_version: 1 });
    const late = await refused('/api.UpdateRule', { rule_id, name: 'Late', if_version: 1 });
    expect(late).toMatchObject({
      code: 'failed_precondition',
      message: expect.stringContaining('version 2, not 1'),
    });
    const deleted = await refused('/api.DeleteRule', { rule_id, if_version: 1 });
    expect(deleted.code).toBe('failed_precondition');
    expect(await api.getRule(rule_id)).toMatchObject({ name: 'Changed by somebody', version: 2 });
    expect((await api.call('POST', '/api.DeleteRule', { rule_id, if_version: 2 })).status).toBe(200);
  });
});

describe('a rule that is kept as code', () => {
  const managed_by = { set: 'launches', key: 'rockets' };
  const codeOf = async (path: string, request: object) =>
    ((await api.call('POST', path, request)).json as ErrorEnvelope).code;

  test('has its key for itself, however many are created at once, and gives it back when it is deleted', async () => {
    // One value that is registered already and one that is not: the two ways that a creation goes.
    const first = await created(rule({ overrides: { x: 'known' } }));
    for (const x of ['known', 'notyet']) {
      const request = rule({ overrides: { x }, managed_by });
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => api.call('POST', '/api.CreateRule', request)),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 409)).toHaveLength(4);
      expect(answers.flatMap(({ json }) => (json as ErrorEnvelope).code ?? [])).toEqual(
        Array.from({ length: 4 }, () => 'already_exists'),
      );
      const mine = (await api.listRules()).rules.filter((one) => one.managed_by !== null);
      expect(mine.map((one) => one.managed_by)).toEqual([managed_by]);
      for (const { id } of mine) await api.deleteRule(id);
    }
    await api.deleteRule(first.rule_id);
  });

  test('can be taken into a set, and out of it', async () => {
    const byHand = await created(rule({ overrides: { x: 'hand' } }));
    const other = await created(rule({ overrides: { x: 'other' } }));
    expect(await api.updateRule(byHand.rule_id, { managed_by })).toMatchObject({ version: 2, managed_by });
    expect(await codeOf('/api.UpdateRule', { rule_id: other.rule_id, managed_by })).toBe('already_exists');
    // Also where a new value would have to be registered first: the rule is free for other changes at once.
    const moved = { rule_id: other.rule_id, platforms: ['x'], overrides: { x: 'elsewhere' }, managed_by };
    expect(await codeOf('/api.UpdateRule', moved)).toBe('already_exists');
    expect(await api.updateRule(other.rule_id, { name: 'free' })).toMatchObject({ version: 2 });
    expect(await api.updateRule(byHand.rule_id, { managed_by: null })).toMatchObject({ managed_by: null });
    expect(await api.updateRule(other.rule_id, { managed_by })).toMatchObject({ managed_by });
    for (const { rule_id } of [byHand, other]) await api.deleteRule(rule_id);

    // However many ask for it at once.
    const rules = await Promise.all(
      ['a', 'b', 'c', 'd'].map((x) => created(rule({ overrides: { x: `at once ${x}` } }))),
    );
    const answers = await Promise.all(
      rules.map(({ rule_id }) => api.call('POST', '/api.UpdateRule', { rule_id, managed_by })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(3);
    for (const { rule_id } of rules) await api.deleteRule(rule_id);
  });
});
