import { scopes as scopeNames } from '@earshot/contract/scopes';
import { expect, test } from 'vitest';
import {
  flag,
  integer,
  listOf,
  oneOf,
  readTime,
  required,
  text,
  time,
  timeOrNow,
  usdOrNone,
} from '../src/options.ts';

const now = new Date('2026-11-15T00:00:00Z');

test('a missing option is undefined, a missing flag false, and a missing required option refused', () => {
  expect(text('<a>', '').read(undefined)).toBeUndefined();
  expect(integer('<n>', '', { min: 1, max: 2 }).read(undefined)).toBeUndefined();
  expect(flag('').read(undefined)).toBe(false);
  expect(flag('').read('')).toBe(true);
  expect(() => required(text('<a>', '')).read(undefined)).toThrow('is required.');
  expect(() => required(text('<a>', '')).read('')).toThrow('is required.');
  expect(required(text('<a>', '')).read('b')).toBe('b');
});

test.for(['0', '101', '1.5', '-1', '1e1', 'abc', '', ' 1'])('"%s" is not a number from 1 to 100', (given) => {
  expect(() => integer('<n>', '', { min: 1, max: 100 }).read(given)).toThrow(
    `takes a whole number from 1 to 100, not "${given}".`,
  );
});

test('an amount is positive USD, or none', () => {
  expect(usdOrNone('').read('0.5')).toBe(0.5);
  expect(usdOrNone('').read('none')).toBeNull();
  for (const given of ['0', '-1', '1e9', '$1', ''])
    expect(() => usdOrNone('').read(given)).toThrow(`takes an amount in USD such as 0.5, not "${given}".`);
});

test('an unknown plan or scope is refused with a list of valid ones', () => {
  expect(() => oneOf(['free', 'paid'], '').read('gold')).toThrow('takes free or paid, not "gold".');
  const scopes = listOf(scopeNames, '', '<scopes>');
  expect(() => scopes.read('rules:read,all')).toThrow(
    'takes any of rules:read, rules:write, matches:read, matches:label, readers:write, keys:write, audit:read, webhooks:read, webhooks:write, not "all".',
  );
  expect(() => scopes.read('constructor')).toThrow('not "constructor".');
  expect(() => scopes.read(' , ')).toThrow('takes any of rules:read');
});

test('scopes may be separated by spaces and repeated', () => {
  expect(listOf(scopeNames, '', '').read('rules:read, matches:read,rules:read')).toEqual([
    'rules:read',
    'matches:read',
  ]);
});

test('a date means the start of the day in UTC, and a time may have a zone', () => {
  expect(readTime('2027-01-01', 'future', now)).toBe('2027-01-01T00:00:00.000Z');
  expect(readTime('2027-01-01T12:30:00Z', 'future', now)).toBe('2027-01-01T12:30:00.000Z');
  expect(readTime('2026-01-01T12:30:00+02:00', 'past', now)).toBe('2026-01-01T10:30:00.000Z');
});

test('a duration counts back or ahead from now', () => {
  expect(readTime('10m', 'past', now)).toBe('2026-11-14T23:50:00.000Z');
  expect(readTime('2h', 'past', now)).toBe('2026-11-14T22:00:00.000Z');
  expect(readTime('30d', 'future', now)).toBe('2026-12-15T00:00:00.000Z');
  expect(readTime('1w', 'future', now)).toBe('2026-11-22T00:00:00.000Z');
});

test('all times of a command count from the same moment', () => {
  expect(time('', 'past').read('1h', now)).toBe('2026-11-14T23:00:00.000Z');
  expect(timeOrNow('').read(undefined, now)).toBe('2026-11-15T00:00:00.000Z');
  expect(timeOrNow('').read('1h', now)).toBe('2026-11-14T23:00:00.000Z');
});

test.for(['tomorrow', '2027', '2027-1-1', '2027-02-30', '2027-01-01T25:00:00Z', '2027-01-01T12:00:00', '5y'])(
  '%s is not a time',
  (given) => {
    expect(() => readTime(given, 'past', now)).toThrow(`not "${given}".`);
  },
);

test('a past time is refused if it must be in the future', () => {
  expect(() => readTime('2026-11-14', 'future', now)).toThrow('2026-11-14 has passed.');
  expect(readTime('2026-11-14', 'past', now)).toBe('2026-11-14T00:00:00.000Z');
});
