import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { skipUnless } from '@earshot/testkit';
import { describe, expect, test } from 'vitest';
import { createMetrics } from './metrics.ts';

const root = new URL('../../../../', import.meta.url);
const alerts = readFileSync(new URL('deploy/alerts.yaml', root), 'utf8');
const operations = new URL('docs/operations/', root);

const found = (pattern: RegExp) => Array.from(alerts.matchAll(pattern), ([, text]) => text ?? '');
const names = found(/- alert: (\w+)/g);
const records = found(/- record: (\S+)/g);
const runbooks = found(/runbook: docs\/operations\/([\w-]+\.md)/g);

const titleOf = (page: string) => readFileSync(new URL(page, operations), 'utf8').split('\n')[0] ?? '';

test('every alert has a page that bears its name, and every page with such a name an alert', () => {
  expect(names.length).toBeGreaterThan(0);
  expect(runbooks.map(titleOf)).toEqual(names.map((name) => `# ${name}`));
  // The titles of other pages are words.
  const pages = readdirSync(operations).filter((page) => /^# [A-Z][a-z]+[A-Z]\w+$/.test(titleOf(page)));
  expect(pages.toSorted()).toEqual(runbooks.toSorted());
});

test('the index links every page', () => {
  const index = readFileSync(new URL('README.md', operations), 'utf8');
  for (const [at, name] of names.entries()) expect(index).toContain(`[${name}](${runbooks[at]})`);
  for (const page of readdirSync(operations).filter((name) => name !== 'README.md'))
    expect(index).toContain(`](${page})`);
});

test('every metric in an alert is one that we export', async () => {
  const exported = new Set((await createMetrics().registry.getMetricsAsJSON()).map(({ name }) => name));
  const used = (alerts.match(/earshot_\w+/g) ?? []).map((name) => name.replace(/_(bucket|count)$/, ''));
  expect(used.length).toBeGreaterThanOrEqual(names.length);
  expect(used.filter((name) => !exported.has(name))).toEqual([]);
});

test('every alert has a case in which it fires and one in which it is silent', () => {
  const cases = readFileSync(new URL('deploy/alerts.test.yaml', root), 'utf8');
  const firing = Array.from(
    cases.matchAll(/alertname: (\w+)\n\s+exp_alerts:\n\s+- exp_labels/g),
    ([, name = '']) => name,
  );
  const silent = Array.from(cases.matchAll(/alertname: (\w+), exp_alerts: \[\]/g), ([, name = '']) => name);
  expect([...new Set(firing)].toSorted()).toEqual(names.toSorted());
  expect([...new Set(silent)].toSorted()).toEqual(names.toSorted());
});

const promtool = '/usr/bin/promtool';

describe('promtool', skipUnless('prometheus', existsSync(promtool) ? null : `no ${promtool}`), () => {
  const run = async (...args: string[]) => {
    const { stdout } = await promisify(execFile)(promtool, args, {
      cwd: fileURLToPath(new URL('deploy', root)),
    });
    return stdout;
  };

  test('takes the configuration and the alerts', async () => {
    expect(await run('check', 'config', 'prometheus.yaml')).toContain(
      `${names.length + records.length} rules found`,
    );
  });

  test('finds that each alert fires when it should, and is silent when it should be', {
    timeout: 240_000,
  }, async () => {
    expect(await run('test', 'rules', 'alerts.test.yaml')).toContain('SUCCESS');
  });
});
