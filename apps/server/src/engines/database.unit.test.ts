import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { nodeConnections, withoutJit } from './database.ts';

test('the documentation says how many connections a node opens', () => {
  const { perLogin, owner } = nodeConnections;
  const all = 2 * perLogin + owner;
  const read = (page: string) =>
    readFileSync(new URL(`../../../../docs/operations/${page}.md`, import.meta.url), 'utf8');
  expect(read('several-nodes')).toContain(
    `up to ${all} connections to PostgreSQL: ${perLogin} for each of the two logins of the server, and ${owner} for the owner's`,
  );
  expect(read('sizing')).toContain(`| connections to PostgreSQL | up to ${all} a node:`);
  expect(read('install')).toContain(`Each node opens at most ${all} connections`);
  expect(read('database-pool-exhausted')).toMatch(
    new RegExp(`have\\s${perLogin} connections each, \`owner\` has ${owner}\\.`),
  );
});

test.each([
  ['postgres://earshot:p%40ss@127.0.0.1:5432/earshot', '-c jit=off'],
  ['postgres://earshot@127.0.0.1/earshot?options=-c%20role%3Dapp&sslmode=require', '-c jit=off -c role=app'],
])('statements are not compiled, whatever options the URL has: %s', (given, options) => {
  const [before, after] = [new URL(given), new URL(withoutJit(given))];
  expect(after.searchParams.get('options')).toBe(options);
  expect(after.searchParams.get('sslmode')).toBe(before.searchParams.get('sslmode'));
  expect(after.href.split('?')[0]).toBe(before.href.split('?')[0]);
});
