import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatKey, isWellFormedKey, keyChecksum } from '../src/api-key.ts';

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const characters = fc.constantFrom(...base62.split(''));
const bodies = fc.string({ unit: characters, minLength: 32, maxLength: 32 });

test('every formatted key is well formed', () => {
  fc.assert(
    fc.property(bodies, (body) => {
      const key = formatKey(body);
      expect(key).toMatch(/^esk_[0-9A-Za-z]{38}$/);
      expect(key.slice(4, 36)).toBe(body);
      expect(isWellFormedKey(key)).toBe(true);
    }),
  );
});

test('a key with one changed character is refused', () => {
  fc.assert(
    fc.property(bodies, fc.nat(41), characters, (body, place, replacement) => {
      const key = formatKey(body);
      fc.pre(key[place] !== replacement);
      expect(isWellFormedKey(key.slice(0, place) + replacement + key.slice(place + 1))).toBe(false);
    }),
  );
});

test('a key with two neighbouring characters swapped is refused', () => {
  fc.assert(
    fc.property(bodies, fc.nat(40), (body, place) => {
      const key = formatKey(body);
      const swapped = `${key.slice(0, place)}${key[place + 1]}${key[place]}${key.slice(place + 2)}`;
      fc.pre(swapped !== key);
      expect(isWellFormedKey(swapped)).toBe(false);
    }),
  );
});

test('arbitrary text is not a key, and does not throw', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 60 }), (text) => {
      expect(isWellFormedKey(text)).toBe(false);
    }),
  );
});

test('the checksum is the CRC-32 of the body in six base62 digits', () => {
  // 3400603511 is the CRC-32 of 32 times "a" according to zlib.
  const digits = keyChecksum('a'.repeat(32)).split('');
  expect(digits).toHaveLength(6);
  expect(digits.reduce((value, digit) => value * 62 + base62.indexOf(digit), 0)).toBe(3_400_603_511);
});

test.each(['', 'a'.repeat(31), 'a'.repeat(33), `${'a'.repeat(31)}-`])(
  '%j is refused as a key body',
  (body) => {
    expect(() => formatKey(body)).toThrow(TypeError);
  },
);
