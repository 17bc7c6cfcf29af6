import { expect, test } from 'vitest';
import { neededChange } from '../src/screens/rules/needed-change.ts';

test('Resume is not offered for a pause that only a change can end', () => {
  const pause = (reason: NonNullable<Parameters<typeof neededChange>[0]['pause']>['reason']) =>
    neededChange({ pause: { reason, resumes_at: null } });
  expect(pause('budget')).toBe('Raise budget …');
  expect(pause('default_budget')).toBe('Set budget …');
  expect(pause('expired')).toBe('Change expiry …');
  expect(pause('request')).toBeNull();
});
