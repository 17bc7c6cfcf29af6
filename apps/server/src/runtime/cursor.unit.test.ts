import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createCursors } from './cursor.ts';
import { Failure } from './failure.ts';

const cursors = createCursors(Buffer.from('a secret of this installation'));
const scope = { accountId: 'acc_1', filter: ['matches', 'rule_1', null, 'newest'] };

function isRefused(open: () => string): boolean {
  try {
    open();
    return false;
  } catch (error) {
    return error instanceof Failure && error.code === 'invalid_argument';
  }
}

describe('a cursor', () => {
  test('restores its position, and is safe in a URL and as a command argument', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (place) => {
        const cursor = cursors.seal(scope, place);
        expect(cursor).toMatch(/^\w[\w-]+$/);
        expect(cursors.open(scope, cursor)).toBe(place);
      }),
    );
  });

  test('is refused after any change', () => {
    const cursor = cursors.seal(scope, '123456');
    const change = fc.record({
      at: fc.nat(cursor.length - 1),
      to: fc.constantFrom('A', 'Z', 'a', 'z', '0', '9', '-', '_', '=', '+', '.', ' '),
    });
    fc.assert(
      fc.property(change, ({ at, to }) => {
        fc.pre(cursor.charAt(at) !== to);
        const changed = cursor.slice(0, at) + to + cursor.slice(at + 1);
        expect(isRefused(() => cursors.open(scope, changed))).toBe(true);
      }),
    );
    const others = [`${cursor}A`, cursor.slice(0, -1), `${cursor}=`, ` ${cursor}`, ''];
    expect(others.filter((changed) => !isRefused(() => cursors.open(scope, changed)))).toEqual([]);
  });

  test('is refused if it is made up', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(isRefused(() => cursors.open(scope, text))).toBe(true);
      }),
    );
  });

  test.each([
    ['account', { ...scope, accountId: 'acc_2' }],
    ['rule', { ...scope, filter: ['matches', 'rule_2', null, 'newest'] }],
    ['direction', { ...scope, filter: ['matches', 'rule_1', null, 'oldest'] }],
    ['place of a null', { ...scope, filter: ['matches', null, 'rule_1', 'newest'] }],
    ['number of parts', { ...scope, filter: ['matches', 'rule_1', null] }],
  ])('is refused with another %s', (_what, other) => {
    const cursor = cursors.seal(scope, '7');
    expect(isRefused(() => cursors.open(other, cursor))).toBe(true);
  });

  test('is refused by another installation', () => {
    const elsewhere = createCursors(Buffer.from('another secret'));
    expect(isRefused(() => elsewhere.open(scope, cursors.seal(scope, '7')))).toBe(true);
  });
});

test('the first secret signs, and the previous one is accepted until it is removed', () => {
  const [old, fresh] = [Buffer.from('the former secret'), Buffer.from('the new secret')];
  const [before, after] = [createCursors(old), createCursors(fresh)];
  const node = createCursors(old);
  const [early, late] = [before.seal(scope, '1'), after.seal(scope, '2')];
  node.use([old, fresh]);
  expect([early, late].map((cursor) => node.open(scope, cursor))).toEqual(['1', '2']);
  expect(node.seal(scope, '1')).toBe(early);
  node.use([fresh, old]);
  expect([early, late].map((cursor) => node.open(scope, cursor))).toEqual(['1', '2']);
  expect(node.seal(scope, '2')).toBe(late);
  node.use([fresh]);
  expect(node.open(scope, late)).toBe('2');
  expect(isRefused(() => node.open(scope, early))).toBe(true);
});
