import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { operations } from '../../packages/contract/src/index.ts';
import { findProblems } from '../docs-site/check.ts';
import { readSite } from '../docs-site/site.ts';

const root = join(import.meta.dirname, '../..');
const dist = join(root, 'docs/site/dist');
/** Runs without a network, not even loopback. If the user is not root, this needs a user namespace. */
const offline = process.getuid?.() === 0 ? ['--net'] : ['--map-root-user', '--net'];

beforeAll(async () => {
  rmSync(dist, { recursive: true, force: true });
  await promisify(execFile)('unshare', [...offline, 'pnpm', 'docs:site'], {
    cwd: root,
    maxBuffer: 64 * 1024 * 1024,
  });
}, 600_000);

test('the site is complete: Markdown beside every page, no broken link, a search index, no requests to other hosts', () => {
  const site = readSite();
  expect(site.pages.length).toBeGreaterThan(90);
  expect(findProblems(site, dist)).toEqual([]);
});

test('the API reference has a page for every operation', () => {
  const pages = Object.keys(operations).map((name) => {
    const html = readFileSync(join(dist, `reference/operations/${name.toLowerCase()}/index.html`), 'utf8');
    return html.includes(name);
  });
  expect(pages).toEqual(pages.map(() => true));
});
