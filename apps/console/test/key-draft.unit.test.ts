import { expect, test } from 'vitest';
import { type KeyDraft, requestOf, scopesOf } from '../src/screens/keys/key-draft.ts';

const draft: KeyDraft = {
  scopes: ['rules:read'],
  expires: '',
  amount: '',
  unit: 'usd',
  period: 'day',
  on_reached: 'pause',
};

test('what was left out is not asked for', () => {
  expect(requestOf(draft)).toEqual({ scopes: ['rules:read'] });
});

test('a budget has the one unit that was chosen, and a comma is a decimal sign', () => {
  expect(requestOf({ ...draft, amount: ' 2,50 ' }).budget).toEqual({
    period: 'day',
    on_reached: 'pause',
    usd: 2.5,
  });
  expect(requestOf({ ...draft, amount: '10', unit: 'matches' }).budget).toEqual({
    period: 'day',
    on_reached: 'pause',
    matches: 10,
  });
});

test('an end is sent as the moment that it is in the reader’s time zone', () => {
  expect(requestOf({ ...draft, expires: '2027-01-01T00:00' }).expires_at).toBe(
    new Date(2027, 0, 1).toISOString(),
  );
});

test('a scope that the page does not know is not offered', () => {
  expect(scopesOf(['rules:read', 'readers:write', 'moon:write', 'constructor'])).toEqual([
    'rules:read',
    'readers:write',
  ]);
});
