import { expect, test } from 'vitest';
import type { JsonSchema } from '../src/json-schemas.ts';
import { readRulesFile, rulesFileJsonSchema } from '../src/rules-file.ts';
import { mismatch } from './json-schema-mismatch.ts';

const rule = {
  intent: 'Know about launches',
  overrides: { x: 'rocket' },
  expires_at: '2999-01-01T00:00:00Z',
  examples: { must_match: [{ platform: 'x', payload: { text: 'rocket' } }] },
};

const schema: JsonSchema = rulesFileJsonSchema();
const noOthers = {};

/** Whether the command line accepts the file, and whether the schema for editors does. */
function verdicts(file: unknown): [boolean, boolean] {
  return ['file' in readRulesFile(file), mismatch(schema, file, noOthers) === undefined];
}

test('the command line and the schema for editors accept the same file', () => {
  expect(verdicts({ set: 'launches', rules: { rockets: rule } })).toEqual([true, true]);
  expect(verdicts({ set: 'launches', rules: {} })).toEqual([true, true]);
});

test.each([
  ['no set', { rules: {} }],
  ['an invalid set', { set: 'a b', rules: {} }],
  ['a misspelt field of the file', { set: 'a', rules: {}, rule: {} }],
  ['a misspelt field of a rule', { set: 'a', rules: { rockets: { ...rule, nmae: 'Rockets' } } }],
  ['a rule without an intent', { set: 'a', rules: { rockets: { overrides: { x: 'rocket' } } } }],
  ['an unknown platform', { set: 'a', rules: { rockets: { ...rule, overrides: { y: 'rocket' } } } }],
  [
    'an example without a platform',
    { set: 'a', rules: { rockets: { ...rule, examples: { must_match: [{}] } } } },
  ],
])('the command line and the schema for editors refuse %s', (_, file) => {
  expect(verdicts(file)).toEqual([false, false]);
});

test('every problem has the path of its field', () => {
  const reading = readRulesFile({ set: 'a', rules: { 'x y': { ...rule, nmae: 'Rockets' } } });
  expect('problems' in reading && reading.problems.map(({ path, code }) => [path.join('/'), code])).toEqual([
    ['rules/x y/nmae', 'unknown_field'],
    ['rules/x y', 'invalid_value'],
  ]);
});
