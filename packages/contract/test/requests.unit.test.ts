import * as fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type OperationId, operations } from '../src/operations.ts';
import { violationsOf } from '../src/violations.ts';

const operationIds = Object.keys(operations) as OperationId[];

function violations(id: OperationId, request: unknown) {
  const result = operations[id].request.safeParse(request);
  return result.success ? [] : violationsOf(result.error).map(({ field, code }) => `${field}: ${code}`);
}

function rule(changes: Record<string, unknown> = {}) {
  return { ...operations.CreateRule.example.request, ...changes };
}

describe.each(operationIds)('%s', (id) => {
  const { request, answer, example } = operations[id];

  test('accepts its own examples', () => {
    expect(request.safeParse(example.request).error).toBeUndefined();
    expect(answer.safeParse(example.answer).error).toBeUndefined();
  });

  test('creates no schema while it parses a request', () => {
    const read = () => request.safeParse(example.request);
    // Schemas are compiled at their first use.
    read();
    let compiled = 0;
    const construct = () => {
      compiled += 1;
      return () => undefined;
    };
    vi.stubGlobal('Function', new Proxy(Function, { construct }));
    onTestFinished(() => void vi.unstubAllGlobals());
    read();
    expect(compiled).toBe(0);
  });

  test('refuses unknown fields, also in otherwise invalid requests', () => {
    const known = Object.keys(request.shape);
    const unknownKeys = fc.string({ maxLength: 80 }).filter((key) => !known.includes(key));
    const damage =
      known.length === 0
        ? fc.constant({})
        : fc.dictionary(fc.constantFrom(...known), fc.jsonValue({ maxDepth: 2 }));
    fc.assert(
      fc.property(unknownKeys, damage, (key, damaged) => {
        const { error } = request.safeParse({ ...example.request, ...damaged, [key]: 1 });
        const codes = error === undefined ? [] : violationsOf(error).map((violation) => violation.code);
        expect(codes).toContain('unknown_field');
      }),
    );
  });

  test('describes an invalid JSON value in at most 20 violations of limited length', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const { error } = request.safeParse(value);
        const found = error === undefined ? [] : violationsOf(error);
        expect(error === undefined).toBe(found.length === 0);
        expect(found.length).toBeLessThanOrEqual(20);
        for (const { message } of found) expect(message.length).toBeLessThanOrEqual(300);
      }),
    );
  });

  test('refuses an answer with an unknown field', () => {
    expect(answer.safeParse({ ...example.answer, leaked: 1 }).success).toBe(false);
  });
});

describe('UpdateRule', () => {
  const update = (changes: object) => violations('UpdateRule', { rule_id: 'rule_1', ...changes });

  test('needs at least one change', () => {
    expect(update({})).toEqual([': required']);
    expect(update({ name: 'another' })).toEqual([]);
    expect(update({ expires_at: null })).toEqual([]);
    expect(update({ accept_suspicious: true })).toEqual([': required']);
  });

  test('accepts platforms or overrides alone, or both with one override for each platform', () => {
    expect(update({ platforms: ['x'] })).toEqual([]);
    expect(update({ overrides: { x: 'a' } })).toEqual([]);
    expect(update({ overrides: {} })).toEqual(['overrides: required']);
    expect(update({ platforms: ['x'], overrides: { firehose: 'a' } })).toEqual([
      'overrides.x: missing_override',
      'overrides.firehose: extra_override',
    ]);
    expect(update({ platforms: ['x'], overrides: { x: 'a' } })).toEqual([]);
  });
});

describe('CreateRule', () => {
  test('needs all four fields', () => {
    expect(violations('CreateRule', {})).toEqual([
      'name: required',
      'intent: required',
      'platforms: required',
      'overrides: required',
    ]);
  });

  test('requires both limits of a trial, and no budget or expiry', () => {
    const trial = { minutes: 30, max_matches: 50 };
    const tried = (changes: object) =>
      violations('CreateRule', rule({ budget: undefined, trial, ...changes }));
    expect(tried({})).toEqual([]);
    expect(tried({ trial: { minutes: 30 } })).toEqual(['trial.max_matches: required']);
    expect(tried({ trial: { minutes: 1_441, max_matches: 0 } })).toEqual([
      'trial.minutes: invalid_value',
      'trial.max_matches: invalid_value',
    ]);
    expect(tried({ expires_at: null, budget: { period: 'day', usd: 5 } })).toEqual([
      'expires_at: invalid_value',
      'budget: invalid_value',
    ]);
  });

  test('counts characters, not UTF-16 units', () => {
    expect(violations('CreateRule', rule({ name: '🦀'.repeat(200), intent: '🦀'.repeat(2_000) }))).toEqual(
      [],
    );
    expect(violations('CreateRule', rule({ name: 'a'.repeat(201) }))).toEqual(['name: too_long']);
    expect(violations('CreateRule', rule({ intent: 'a'.repeat(2_001) }))).toEqual(['intent: too_long']);
  });

  test.each(['', ' ', '\n\t\u3000'])('refuses the blank text %j', (blank) => {
    const request = rule({ name: blank, intent: blank, overrides: { x: blank, firehose: 'a' } });
    expect(violations('CreateRule', request)).toEqual([
      'name: too_short',
      'intent: too_short',
      'overrides.x: too_short',
    ]);
  });

  test.each(['a\0b', 'a\ud800'])('refuses %j, which PostgreSQL could not store unchanged', (value) => {
    expect(violations('CreateRule', rule({ name: value }))).toEqual(['name: invalid_value']);
  });

  test('keeps texts unchanged', () => {
    expect(operations.CreateRule.request.parse(rule({ name: '  a ' })).name).toBe('  a ');
  });

  test('requires at least one platform, each once', () => {
    const overrides = { x: 'a' };
    expect(violations('CreateRule', rule({ platforms: ['x', 'x'], overrides }))).toEqual([
      'platforms[1]: duplicate',
    ]);
    expect(violations('CreateRule', rule({ platforms: [], overrides: {} }))).toEqual([
      'platforms: too_short',
    ]);
    expect(violations('CreateRule', rule({ platforms: ['x', 'mastodon'], overrides }))).toEqual([
      'platforms[1]: invalid_value',
    ]);
  });

  test('requires exactly one override for each listed platform', () => {
    expect(violations('CreateRule', rule({ platforms: ['x'] }))).toEqual([
      'overrides.firehose: extra_override',
    ]);
    expect(violations('CreateRule', rule({ overrides: { x: 'a' } }))).toEqual([
      'overrides.firehose: missing_override',
    ]);
    expect(violations('CreateRule', rule({ overrides: { x: 'a', firehose: 'b', fire: 'c' } }))).toEqual([
      'overrides.fire: extra_override',
    ]);
  });

  test('limits the length of an override', () => {
    expect(violations('CreateRule', rule({ platforms: ['x'], overrides: { x: 'a'.repeat(4_096) } }))).toEqual(
      [],
    );
    expect(violations('CreateRule', rule({ platforms: ['x'], overrides: { x: 'a'.repeat(4_097) } }))).toEqual(
      ['overrides.x: too_long'],
    );
  });
});

describe('ListRules', () => {
  test('reads the limit of a query string as text', () => {
    expect(operations.ListRules.request.parse({ limit: '1000' })).toEqual({ limit: 1_000 });
    expect(operations.ListRules.request.parse({})).toEqual({});
  });

  test.each(['0', '1001', '', ' 5', '1e2', '0x10', '-1', '1.5'])('refuses the limit %j', (limit) => {
    expect(violations('ListRules', { limit })).toEqual(['limit: invalid_value']);
  });

  test('refuses a repeated parameter', () => {
    expect(violations('ListRules', { limit: ['1', '2'] })).toEqual(['limit: wrong_type']);
  });

  test('reads the limit of a JSON body as a number', () => {
    expect(operations.ListRules.request.parse({ limit: 1_000 })).toEqual({ limit: 1_000 });
    expect(violations('ListRules', { limit: 1_001 })).toEqual(['limit: invalid_value']);
  });
});

describe.each(['ValidateRule', 'PreviewRule'] as const)('%s', (id) => {
  test('takes the platforms from the overrides unless they are listed', () => {
    expect(violations(id, { overrides: { firehose: 'a' } })).toEqual([]);
    expect(violations(id, { overrides: {} })).toEqual(['overrides: required']);
    expect(violations(id, { platforms: ['x'], overrides: { firehose: 'a' } })).toEqual([
      'overrides.x: missing_override',
      'overrides.firehose: extra_override',
    ]);
  });
});

test('ReadMatches starts a new reader with new matches by default', () => {
  expect(operations.ReadMatches.request.parse({ reader: 'a' })).toMatchObject({ start: 'now' });
});

describe('ListMatches', () => {
  test('lists the newest 50 by default', () => {
    expect(operations.ListMatches.request.parse({})).toEqual({ limit: 50, order: 'newest' });
  });

  test('accepts limits from 1 to 100', () => {
    for (const limit of [1, 100]) expect(violations('ListMatches', { limit })).toEqual([]);
    for (const limit of [0, 101, 1.5])
      expect(violations('ListMatches', { limit })).toEqual(['limit: invalid_value']);
    expect(violations('ListMatches', { limit: '50' })).toEqual(['limit: wrong_type']);
  });

  test('waits only with the order from oldest to newest', () => {
    expect(violations('ListMatches', { order: 'oldest', wait_seconds: 30 })).toEqual([]);
    expect(violations('ListMatches', { order: 'oldest', wait_seconds: 31 })).toEqual([
      'wait_seconds: invalid_value',
    ]);
    expect(violations('ListMatches', { wait_seconds: 0 })).toEqual(['wait_seconds: invalid_value']);
  });

  test('accepts RFC 3339 times with any offset', () => {
    const from = '2026-11-14T22:46:00+01:00';
    expect(violations('ListMatches', { from, to: '2026-11-14T22:00:00Z' })).toEqual([]);
    expect(violations('ListMatches', { from, to: '2026-11-14T21:46:00Z' })).toEqual(['to: invalid_value']);
  });

  test.each(['2026-11-14', '2026-02-30T00:00:00Z', '2026-11-14T22:46:00', '0000-01-01T00:00:00Z', 'now'])(
    'refuses the time %j',
    (from) => expect(violations('ListMatches', { from })).toEqual(['from: invalid_value']),
  );
});

describe('PlatformSyntax', () => {
  test('explains both platforms by default', () => {
    expect(operations.PlatformSyntax.request.parse({})).toEqual({ platforms: ['x', 'firehose'] });
  });

  test('refuses an empty list of platforms', () => {
    expect(violations('PlatformSyntax', { platforms: [] })).toEqual(['platforms: too_short']);
  });
});

test('a webhook and a digest have 1 to 100 different rules, or all', () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => `rule_${index}`);
  const cases: [unknown, string[]][] = [
    [null, []],
    [many(100), []],
    [[], ['rule_ids: too_short']],
    [many(101), ['rule_ids: too_long']],
    [many(1_001), ['rule_ids: too_long']],
    [['rule_1', 'rule_2', 'rule_1'], ['rule_ids[2]: duplicate']],
    [
      ['rule_1', ' ', 1],
      ['rule_ids[1]: too_short', 'rule_ids[2]: wrong_type'],
    ],
    ['rule_1', ['rule_ids: wrong_type']],
  ];
  for (const id of ['CreateWebhook', 'UpdateWebhook', 'CreateDigest', 'UpdateDigest'] as const)
    for (const [rule_ids, found] of cases)
      expect(violations(id, { ...operations[id].example.request, rule_ids })).toEqual(found);
});
