import { expect, test } from 'vitest';
import { planLimits } from '../src/commands/admin-plans.ts';

test('limits of a plan are read as pairs', () => {
  expect(planLimits.read('rules=5, webhooks=0')).toEqual({ rules: 5, webhooks: 0 });
});

test('an unknown limit is refused with the list of limits', () => {
  expect(() => planLimits.read('rules=5,rule=6')).toThrow(
    'not "rule=6". The limits are rules, requests, changes, keys, webhooks, readers, digests, mails, counts.',
  );
});

test.each([
  ['keys=0', 'from 1 to 1000000 for keys, not "0"'],
  ['rules=1000001', 'from 0 to 1000000 for rules, not "1000001"'],
  ['rules=many', 'for rules, not "many"'],
  ['rules', 'for rules, not ""'],
])('%s is refused', (text, words) => {
  expect(() => planLimits.read(text)).toThrow(words);
});
