import { expect, test } from 'vitest';
import { type KeyDraft, requestOf, scopesOf } from '../src/screens/keys/key-draft.ts';

const draft: KeyDraft = {
  name: ' ',
  scopes: ['rules:read'],
  expires: '',
  amount: '',
  unit: 'usd',
  period: 'day',
  on_reached: 'pause',
};

test('does not send empty fields', () => {
  expect(requestOf(draft)).toEqual({ scopes: ['rules:read'] });
});

test('sends a name without the spaces around it', () => {
  expect(requestOf({ ...draft, name: ' Research agent ' }).name).toBe('Research agent');
});

test('a budget has only the chosen unit, and a comma is a decimal separator', () => {
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

test('reads the expiry in the time zone of the browser', () => {
  expect(requestOf({ ...draft, expires: '2027-01-01T00:00' }).expires_at).toBe(
    new Date(2027, 0, 1).toISOString(),
  );
});

test('does not offer unknown scopes', () => {
  expect(scopesOf(['rules:read', 'readers:write', 'moon:write', 'constructor'])).toEqual([
    'rules:read',
    'readers:write',
  ]);
});
