import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { nodeConnections } from './database.ts';

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
