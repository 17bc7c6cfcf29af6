import { operations } from '@earshot/contract';
import { describe, expect, test } from 'vitest';
import { validateRule } from '../rules/validate-rule.ts';
import { checkValue, syntaxGuides, toViolation } from './rule-language.ts';

describe('the examples of the interface', () => {
  test('CreateRule registers what its example says', () => {
    const { request, answer } = operations.CreateRule.example;
    for (const platform of ['x', 'firehose'] as const) {
      expect(checkValue(platform, request.overrides[platform])).toEqual({
        canonical: answer.platforms[platform].translated_value,
        diagnostics: answer.platforms[platform].warnings,
      });
    }
  });

  test('ValidateRule answers what its example says', async () => {
    const { request, answer } = operations.ValidateRule.example;
    const principal = { accountId: 'acc_1', keyId: 'key_1', plan: 'paid', scopes: [] } as const;
    const asked = operations.ValidateRule.request.parse(request);
    expect(await validateRule({ principal, request: asked })).toEqual(answer);
  });
});

test('the guides have the form of the interface, and every value in them is accepted', () => {
  const { platforms } = operations.PlatformSyntax.answer.parse({
    platforms: syntaxGuides(['x', 'firehose']),
  });
  for (const platform of ['x', 'firehose'] as const) {
    const { examples = [], pitfalls = [] } = platforms[platform] ?? {};
    expect(examples.length).toBeGreaterThan(0);
    const values = [...examples.map((one) => one.value), ...pitfalls.map((one) => one.right)];
    expect(values.filter((value) => checkValue(platform, value).canonical === null)).toEqual([]);
  }
});

test('an error becomes a violation of its override, with its place and its fixes', () => {
  const [error] = checkValue('x', 'glacier AND lake').diagnostics;
  expect(error && toViolation('x', error)).toMatchObject({
    field: 'overrides.x',
    code: 'ambiguous_and',
    span: { start: 8, end: 11 },
    fixes: [{ title: 'Remove AND' }, { title: 'Quote it to find the word' }],
  });
});
