import { expect, test } from 'vitest';
import { operations } from '../src/operations.ts';
import { violationsOf } from '../src/violations.ts';

function violations(examples: unknown): string[] {
  const request = { platforms: ['x'], overrides: { x: 'rocket' }, examples };
  const { error } = operations.ValidateRule.request.safeParse(request);
  return error === undefined ? [] : violationsOf(error).map(({ field, code }) => `${field}: ${code}`);
}

const post = (payload: object) => ({ must_match: [{ platform: 'x', payload }] });
const page = (payload: object) => ({ must_match: [{ platform: 'firehose', payload }] });

test('an example needs at least one field that can be evaluated', () => {
  expect(violations(post({ text: 'rocket' }))).toEqual([]);
  expect(violations(page({ title: 'rocket' }))).toEqual([]);
  expect(violations(post({ raw: { data: { text: 'rocket' } } }))).toEqual([]);
  expect(violations(post({ title: 'rocket' }))).toEqual(['examples.must_match[0].payload: required']);
  expect(violations(page({ language: 'en' }))).toEqual(['examples.must_match[0].payload: required']);
});

test('the payload of a match is a valid example', () => {
  const [match] = operations.ListMatches.example.answer.matches;
  expect(violations({ must_not_match: [{ platform: match.platform, payload: match.payload }] })).toEqual([]);
});

test('a missing list is empty', () => {
  const request = { platforms: ['x'], overrides: { x: 'rocket' }, examples: post({ text: 'rocket' }) };
  const { examples } = operations.ValidateRule.request.parse(request);
  expect(examples?.must_not_match).toEqual([]);
});

test('misspelt fields are refused at every depth', () => {
  expect(violations({ must_mach: [] })).toEqual(['examples.must_mach: unknown_field']);
  expect(violations(post({ text: 'rocket', lang: 'en' }))).toEqual([
    'examples.must_match[0].payload.lang: unknown_field',
  ]);
  expect(violations(post({ text: 'rocket', author: { username: 'nasa' } }))).toEqual([
    'examples.must_match[0].payload.author.username: unknown_field',
  ]);
});

test('number and size are limited', () => {
  const many = (count: number) => ({
    must_match: Array.from({ length: count }, () => ({ platform: 'x', payload: { text: 'rocket' } })),
  });
  expect(violations(many(20))).toEqual([]);
  expect(violations(many(21))).toEqual(['examples.must_match: too_long']);
  expect(violations(post({ raw: { data: { text: 'r'.repeat(16_000) } } }))).toEqual([]);
  expect(violations(post({ raw: { data: { text: 'ü'.repeat(16_000) } } }))).toEqual(['examples: too_long']);
});

test('raw items must be storable and not too deep', () => {
  const nested = (depth: number): object => (depth === 0 ? {} : { a: nested(depth - 1) });
  const invalid = ['examples.must_match[0].payload.raw: invalid_value'];
  expect(violations(post({ raw: { 'a\0': 1 } }))).toEqual(invalid);
  expect(violations(post({ raw: { a: ['\ud800'] } }))).toEqual(invalid);
  expect(violations(post({ raw: nested(19) }))).toEqual([]);
  expect(violations(post({ raw: nested(500) }))).toEqual(invalid);
});

test('a set and a key are short names', () => {
  const names = (set: string) => {
    const { error } = operations.CreateRule.request.safeParse({
      ...operations.CreateRule.example.request,
      managed_by: { set, key: 'rockets' },
    });
    return error === undefined ? [] : violationsOf(error).map(({ field }) => field);
  };
  expect(names('team-a.launches_2')).toEqual([]);
  for (const set of ['', '.hidden', 'a b', 'ä', 'x'.repeat(101)])
    expect(names(set)).toContain('managed_by.set');
});
