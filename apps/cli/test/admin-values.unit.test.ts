import { expect, test } from 'vitest';
import { readExpiry, readPlan, readScopes } from '../src/commands/admin-values.ts';

const now = new Date('2026-11-15T00:00:00Z');

test('without options an account is paid, and a key may do everything for ever', () => {
  expect(readPlan()).toBe('paid');
  expect(readScopes()).toEqual([
    'rules:read',
    'rules:write',
    'matches:read',
    'keys:write',
    'audit:read',
    'webhooks:read',
    'webhooks:write',
  ]);
  expect(readExpiry(undefined, now)).toBeUndefined();
});

test('an unknown plan or scope is refused with the list of those that exist', () => {
  expect(() => readPlan('gold')).toThrow('There is no plan "gold". Plans: free, paid.');
  const scopes =
    'Scopes: rules:read, rules:write, matches:read, keys:write, audit:read, webhooks:read, webhooks:write.';
  expect(() => readScopes('rules:read,all')).toThrow(`There is no scope "all". ${scopes}`);
  expect(() => readScopes('constructor')).toThrow('There is no scope "constructor".');
  expect(() => readScopes(' , ')).toThrow(`A key needs a scope. ${scopes}`);
});

test('scopes may have spaces between them and come twice', () => {
  expect(readScopes('rules:read, matches:read,rules:read')).toEqual(['rules:read', 'matches:read']);
});

test('a day means its beginning in UTC', () => {
  expect(readExpiry('2027-01-01', now)?.toISOString()).toBe('2027-01-01T00:00:00.000Z');
  expect(readExpiry('2027-01-01T12:30:00Z', now)?.toISOString()).toBe('2027-01-01T12:30:00.000Z');
});

test.for(['tomorrow', '2027', '2027-1-1', '2027-02-30', '2027-01-01T25:00:00Z', '2027-01-01T12:00:00'])(
  '%s is no date',
  (text) => {
    expect(() => readExpiry(text, now)).toThrow(`"${text}" is not a date such as`);
  },
);

test('a day that has passed is refused', () => {
  expect(() => readExpiry('2026-11-14', now)).toThrow('has passed already');
});
