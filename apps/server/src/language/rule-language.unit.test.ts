import { readFileSync } from 'node:fs';
import { operations } from '@earshot/contract';
import type { Tier } from '@earshot/query';
import { describe, expect, test } from 'vitest';
import { callOf, testLimits } from '../../test/call-of.ts';
import { tiersOf } from '../compose/sources.ts';
import { readConfig } from '../config/config.ts';
import { checkRule } from '../rules/check-rule.ts';
import { createRule } from '../rules/create-rule.ts';
import { validateRule } from '../rules/validate-rule.ts';
import { checkValue, syntaxGuides, toViolation } from './rule-language.ts';

const principal = {
  accountId: 'acc_1',
  keyId: 'key_1',
  plan: 'paid',
  limits: testLimits,
  scopes: [],
} as const;

describe('the examples of the API reference', () => {
  test('CreateRule registers the query of its example', () => {
    const { request, answer } = operations.CreateRule.example;
    for (const platform of ['x', 'firehose'] as const) {
      expect(checkValue(platform, request.overrides[platform])).toEqual({
        valid: true,
        canonical: answer.platforms[platform].translated_value,
        diagnostics: answer.platforms[platform].warnings,
      });
    }
  });

  test('ValidateRule answers hints about an intent that is sent', async () => {
    const overrides = { x: 'rust' };
    const hintsOn = async (more: object) => {
      const parsed = operations.ValidateRule.request.parse({ overrides, ...more });
      return (await validateRule({})({ principal, request: parsed })).intent_hints?.map(({ code }) => code);
    };
    const examples = { must_match: [{ platform: 'x', payload: { text: 'rust' } }], must_not_match: [] };
    expect(await hintsOn({})).toBeUndefined();
    expect(await hintsOn({ intent: 'Rust' })).toEqual(['intent_too_short']);
    expect(await hintsOn({ intent: 'Rust', examples })).toEqual(['intent_too_short']);
    expect(await hintsOn({ intent: 'Rust the language, not the game' })).toEqual([]);
  });

  test('ValidateRule answers like its example', async () => {
    const { request, answer } = operations.ValidateRule.example;
    const parsed = operations.ValidateRule.request.parse(request);
    expect(await validateRule({})({ principal, request: parsed })).toEqual(answer);
  });
});

test('the syntax guides have the form of the API, and every query in them is accepted', () => {
  const { platforms } = operations.PlatformSyntax.answer.parse({
    platforms: syntaxGuides(['x', 'firehose']),
  });
  for (const platform of ['x', 'firehose'] as const) {
    const { examples = [], pitfalls = [] } = platforms[platform] ?? {};
    expect(examples.length).toBeGreaterThan(0);
    const values = [...examples.map((one) => one.value), ...pitfalls.map((one) => one.right)];
    expect(values.filter((value) => !checkValue(platform, value).valid)).toEqual([]);
  }
});

test('an error becomes a violation of its override, with its place and its fixes, as docs/api.md shows', () => {
  const [error] = checkValue('x', 'glacier AND lake').diagnostics;
  const page = readFileSync(new URL('../../../../docs/api.md', import.meta.url), 'utf8');
  const [, example = ''] = /```json\n(.*?)```/s.exec(page) ?? [];
  expect(error && toViolation('x', error)).toEqual(JSON.parse(example));
  expect(JSON.parse(example)).toMatchObject({
    code: 'ambiguous_and',
    fixes: [{ certainty: 'certain' }, { certainty: 'guess' }],
  });
});

describe('operators of enterprise plans', () => {
  const long = Array.from({ length: 150 }, (_, index) => `word${index}`).join(' OR ');
  const embedded = 'embedding:"climate policy" lang:en';

  const register = (tier: Tier, value: string) =>
    checkRule({ platforms: ['x'], overrides: { x: value }, accept_suspicious: true }, { x: tier }).values;

  test.each([
    ['enterprise', long],
    ['embedding', embedded],
  ] as const)('are accepted with %s', (tier, value) => {
    expect(register(tier, value)).toHaveLength(1);
  });

  test.each([
    ['standard', long, 'characters'],
    ['enterprise', embedded, 'Embedding tier'],
  ] as const)('are refused with %s', (tier, value, because) => {
    expect(() => register(tier, value)).toThrow(because);
  });

  test('depend on the setting', () => {
    const config = (plan: string) =>
      readConfig({
        EARSHOT_DATABASE_URL: 'postgres://earshot:secret@db.example:5432/earshot',
        EARSHOT_NATS_URL: 'nats://log.example:4222',
        EARSHOT_X_PLAN: plan,
      });
    expect(tiersOf(config('payg'))).toMatchObject({ x: 'standard', firehose: 'standard' });
    expect(tiersOf(config('enterprise')).x).toBe('enterprise');
    expect(tiersOf(config('embedding')).x).toBe('embedding');
  });
});

describe('a query that is likely a mistake', () => {
  const suspicious = { platforms: ['x' as const], overrides: { x: '"north cape" NOT sunset' } };

  test('is refused with its fix, and with the way to accept it', () => {
    let refusal: unknown;
    try {
      checkRule(suspicious);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining('"accept_suspicious": true'),
      details: {
        violations: [{ severity: 'suspicious', code: 'not_is_a_word', fixes: [{ certainty: 'certain' }] }],
      },
    });
  });

  test('is registered with a warning if the caller accepts it', () => {
    const { values, warnings } = checkRule({ ...suspicious, accept_suspicious: true });
    expect(values).toMatchObject([{ platform: 'x', translatedValue: '"north cape" not sunset' }]);
    expect(warnings.get('x')).toMatchObject([{ severity: 'suspicious', code: 'not_is_a_word' }]);
  });

  test('is not valid for ValidateRule, which shows what would be registered', async () => {
    const { platforms } = await validateRule({})({ principal, request: suspicious });
    expect(platforms.x).toMatchObject({ valid: false, translated_value: '"north cape" not sunset' });
  });

  test('does not hide an error beside it', () => {
    const overrides = { x: '"north cape" NOT sunset AND' };
    expect(() => checkRule({ ...suspicious, overrides, accept_suspicious: true })).toThrow('X has no AND');
  });
});

test('CreateRule refuses failing examples: all of them, with the clause that decided, before anything is written', async () => {
  const create = createRule({ tiers: {}, nowMs: Date.now } as never);
  const post = (text: string, more: object = {}) => ({ platform: 'x' as const, payload: { text, ...more } });
  const creation = create(
    callOf('CreateRule', {
      name: 'Rockets',
      intent: 'to try examples',
      platforms: ['x'],
      overrides: { x: 'rocket (launch OR landing) -lang:de' },
      examples: {
        must_match: [post('A rocket launch'), post('A rocket')],
        must_not_match: [
          post('A rocket launch game', { language: 'en' }),
          { platform: 'firehose', payload: { text: 'rocket' } },
        ],
      },
    }),
  );
  await expect(creation).rejects.toMatchObject({
    code: 'invalid_argument',
    details: {
      violations: [
        { field: 'examples.must_match[1]', code: 'example_failed', span: { start: 8, end: 14 } },
        { field: 'examples.must_not_match[0]', code: 'example_failed', span: { start: 0, end: 6 } },
        { field: 'examples.must_not_match[1]', code: 'invalid_value' },
      ],
    },
  });
});
