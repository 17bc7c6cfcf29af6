import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { DatabaseUnreachable } from '../runtime/failure.ts';
import { createLink, nodeConnections, withoutJit } from './database.ts';

test('the documentation has the number of connections that a node opens', () => {
  const { perLogin, owner } = nodeConnections;
  const all = 2 * perLogin + owner;
  const read = (page: string) =>
    readFileSync(new URL(`../../../../docs/operations/${page}.md`, import.meta.url), 'utf8');
  expect(read('several-nodes')).toContain(
    `up to ${all} connections to PostgreSQL: ${perLogin} for each of the server's two logins, and ${owner} for the owner's`,
  );
  expect(read('requests-failing')).toContain(`have ${perLogin} connections each, \`owner\` has ${owner}.`);
});

test.each([
  ['postgres://earshot:p%40ss@127.0.0.1:5432/earshot', '-c jit=off'],
  ['postgres://earshot@127.0.0.1/earshot?options=-c%20role%3Dapp&sslmode=require', '-c jit=off -c role=app'],
])('JIT compilation is off, whatever options the URL has: %s', (given, options) => {
  const [before, after] = [new URL(given), new URL(withoutJit(given))];
  expect(after.searchParams.get('options')).toBe(options);
  expect(after.searchParams.get('sslmode')).toBe(before.searchParams.get('sslmode'));
  expect(after.href.split('?')[0]).toBe(before.href.split('?')[0]);
});

describe('the link to PostgreSQL', () => {
  const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
  const waitedTooLong = new Error('timeout exceeded when trying to connect');
  const open = () => {
    const changes: boolean[] = [];
    return { changes, link: createLink(({ isConnected }) => void changes.push(isConnected)) };
  };

  test('is lost once, however many statements fail, and restored with the next successful statement', () => {
    const { changes, link } = open();
    const before = performance.now();
    expect(() => link.fail(refused, before)).toThrow(DatabaseUnreachable);
    expect(() => link.fail(refused, before)).toThrow(DatabaseUnreachable);
    // The answer to a statement that was sent before the outage.
    link.succeed(before - 1);
    expect(changes).toEqual([false]);
    link.succeed(performance.now());
    link.succeed(performance.now());
    expect(changes).toEqual([false, true]);
  });

  test('is lost if PostgreSQL hangs, but not if the pool is exhausted or a statement takes too long', () => {
    const { changes, link } = open();
    const since = performance.now();
    link.succeed(since);
    expect(() => link.fail(waitedTooLong, since)).not.toThrow(DatabaseUnreachable);
    const cancelled = Object.assign(new Error('canceling statement'), { code: '57014' });
    expect(() => link.fail(cancelled, since)).not.toThrow(DatabaseUnreachable);
    expect(changes).toEqual([]);
    expect(() => link.fail(waitedTooLong, performance.now() + 1)).toThrow(DatabaseUnreachable);
    expect(changes).toEqual([false]);
  });
});
