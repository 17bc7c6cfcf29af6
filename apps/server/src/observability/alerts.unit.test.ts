import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createMetrics } from './metrics.ts';

const root = new URL('../../../../', import.meta.url);
const alerts = readFileSync(new URL('deploy/alerts.yaml', root), 'utf8');
const operations = new URL('docs/operations/', root);

const found = (pattern: RegExp) => Array.from(alerts.matchAll(pattern), ([, text]) => text ?? '');
const names = found(/- alert: (\w+)/g);
const runbooks = found(/runbook: docs\/operations\/([\w-]+\.md)/g);

test('every alert has a page that bears its name, and every page an alert', () => {
  expect(names.length).toBeGreaterThan(0);
  const titles = runbooks.map((page) => readFileSync(new URL(page, operations), 'utf8').split('\n')[0]);
  expect(titles).toEqual(names.map((name) => `# ${name}`));
  const pages = readdirSync(operations).filter((name) => name !== 'README.md');
  expect(pages.toSorted()).toEqual(runbooks.toSorted());
});

test('the index links every page', () => {
  const index = readFileSync(new URL('README.md', operations), 'utf8');
  for (const [at, name] of names.entries()) expect(index).toContain(`[${name}](${runbooks[at]})`);
});

test('every metric in an alert is one that we export', async () => {
  const exported = new Set((await createMetrics().registry.getMetricsAsJSON()).map(({ name }) => name));
  const used = alerts.match(/earshot_\w+/g) ?? [];
  expect(used.length).toBeGreaterThanOrEqual(names.length);
  expect(used.filter((name) => !exported.has(name))).toEqual([]);
});
