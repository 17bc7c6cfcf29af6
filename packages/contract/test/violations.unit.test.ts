import { closest } from '@earshot/query';
import { expect, test } from 'vitest';
import { operations } from '../src/operations.ts';
import { violationsOf } from '../src/violations.ts';

function messageFor(field: string, request: object): string | undefined {
  const { error } = operations.ListMatches.request.safeParse(request);
  return error && violationsOf(error).find((violation) => violation.field === field)?.message;
}

test('a misspelt field gets a suggestion', () => {
  expect(messageFor('ruleId', { ruleId: 'a' })).toBe(
    '"ruleId" is not a field of this request. Did you mean "rule_id"?',
  );
});

test('an unknown field gets the list of known fields', () => {
  expect(messageFor('banana', { banana: 1 })).toContain('The known fields are "rule_id", "platform", ');
});

test('a field name is quoted and cut', () => {
  const { error } = operations.ListMatches.request.safeParse({ [`"\n${'x'.repeat(100_000)}`]: 1 });
  const [violation] = error === undefined ? [] : violationsOf(error);
  expect(violation?.field).toMatch(/^\["\\"\\nx{57}…"\]$/);
  expect(violation?.message).toMatch(/^"\\"\\nx{57}…" is not a field/);
});

test('a message stays short if every character of a field name is escaped', () => {
  const { error } = operations.ListMatches.request.safeParse({ ['\u0001'.repeat(80)]: 1 });
  const [violation] = error === undefined ? [] : violationsOf(error);
  expect(violation?.message).toHaveLength(300);
});

test('a list of wrong values yields 20 violations', () => {
  const { error } = operations.PlatformSyntax.request.safeParse({ platforms: Array(100).fill('y') });
  expect(error && violationsOf(error)).toHaveLength(20);
});

test('a flood of unknown fields yields 20 violations', () => {
  const flood = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`field_${index}`, 1]));
  const { error } = operations.ListMatches.request.safeParse(flood);
  expect(error && violationsOf(error)).toHaveLength(20);
});

test('a list with far too many entries is one violation', () => {
  const { error } = operations.PlatformSyntax.request.safeParse({
    platforms: Array(5_000).fill('y'),
    limit: 1,
  });
  expect(error && violationsOf(error).map(({ field, code }) => [field, code])).toEqual([
    ['platforms', 'too_long'],
    ['', 'unknown_field'],
  ]);
});

test('an unknown value gets the list of valid values', () => {
  expect(messageFor('platform', { platform: 'mastodon' })).toBe('Must be "x" or "firehose".');
});

test.each([
  ['nmae', 'name'],
  ['platform', 'platforms'],
  ['Intent', 'intent'],
  ['OVERRIDES', 'overrides'],
  ['over-rides', 'overrides'],
  ['budget', null],
  ['n'.repeat(10_000), null],
])('the closest name to %.20s is %s', (word, meant) => {
  expect(closest(word, ['name', 'intent', 'platforms', 'overrides'])).toBe(meant);
});
