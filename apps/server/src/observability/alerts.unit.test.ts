import { readdirSync, readFileSync } from 'node:fs';
import { sourceStates } from '@earshot/contract';
import { expect, test } from 'vitest';
import { needsPerson } from '../upstream/protocol.ts';
import { createMetrics } from './metrics.ts';

const root = new URL('../../../../', import.meta.url);
const alerts = readFileSync(new URL('deploy/alerts.yaml', root), 'utf8');
const operations = new URL('docs/operations/', root);

const found = (pattern: RegExp) => Array.from(alerts.matchAll(pattern), ([, text]) => text ?? '');
const names = found(/- alert: (\w+)/g);
const runbooks = found(/runbook: docs\/operations\/([\w-]+\.md)/g);

const titleOf = (page: string) => readFileSync(new URL(page, operations), 'utf8').split('\n')[0] ?? '';

test('every alert has a runbook with its name, and every such runbook an alert', () => {
  expect(names.length).toBeGreaterThan(0);
  expect(runbooks.map(titleOf)).toEqual(names.map((name) => `# ${name}`));
  // Titles of other pages are words, not alert names.
  const pages = readdirSync(operations).filter((page) => /^# [A-Z][a-z]+[A-Z]\w+$/.test(titleOf(page)));
  expect(pages.toSorted()).toEqual(runbooks.toSorted());
});

test('every runbook has a command to paste, and says when it is over', () => {
  for (const page of runbooks) {
    const text = readFileSync(new URL(page, operations), 'utf8');
    const over = /^## It is over when\n\n.+/m.test(text);
    expect({ page, hasCommand: text.includes('```sh\n'), over }).toEqual({
      page,
      hasCommand: true,
      over: true,
    });
  }
});

test('the index links every runbook', () => {
  const index = readFileSync(new URL('README.md', operations), 'utf8');
  for (const [at, name] of names.entries()) expect(index).toContain(`[${name}](${runbooks[at]})`);
  for (const page of readdirSync(operations).filter((name) => name !== 'README.md'))
    expect(index).toContain(`](${page})`);
});

test('the inhibition rules in the documentation name alerts that exist', () => {
  const page = readFileSync(new URL('monitoring.md', operations), 'utf8');
  const named = Array.from(page.matchAll(/alertname =~ "([\w|]+)"/g), ([, text = '']) =>
    text.split('|'),
  ).flat();
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((name) => !names.includes(name))).toEqual([]);
});

test('every metric in an alert is exported', async () => {
  const exported = new Set((await createMetrics().registry.getMetricsAsJSON()).map(({ name }) => name));
  const used = (alerts.match(/earshot_\w+/g) ?? []).map((name) => name.replace(/_(bucket|count)$/, ''));
  expect(used.length).toBeGreaterThanOrEqual(names.length);
  expect(used.filter((name) => !exported.has(name))).toEqual([]);
});

/** Metric properties of the library. */
const labelsOf = (name: string) => {
  const metric: unknown = createMetrics().registry.getSingleMetric(name);
  return metric !== undefined && Object(metric).labelNames;
};

test('every label and bucket in an alert exists on its metric', async () => {
  const chosen = Array.from(alerts.matchAll(/(earshot_\w+)\{(\w+)/g), ([, name = '', label = '']) => ({
    name,
    label,
  }));
  const kept = Array.from(
    alerts.matchAll(/\w+ by \(([\w, ]+)\) \((?:\w+\()?(earshot_\w+)/g),
    ([, labels = '', name = '']) => labels.split(', ').map((label) => ({ name, label })),
  ).flat();
  expect(chosen.length).toBeGreaterThan(10);
  expect(kept.length).toBeGreaterThan(10);
  const ofPrometheus = ['instance', 'job', 'le'];
  const unknown = [...chosen, ...kept].filter(
    ({ name, label }) =>
      !ofPrometheus.includes(label) && !labelsOf(name.replace(/_(bucket|count)$/, '')).includes(label),
  );
  expect(unknown).toEqual([]);

  const exported = await createMetrics().registry.metrics();
  const buckets = found(/(earshot_\w+_bucket\{le="\d+")/g);
  expect(buckets.length).toBeGreaterThan(0);
  for (const bucket of new Set(buckets)) expect(exported).toContain(bucket);
});

test('alerts name only existing source states, and all that need a person', () => {
  const states = found(/state[!=]~"([\w|]+)"/g).flatMap((some) => some.split('|'));
  expect(states.length).toBeGreaterThan(needsPerson.size);
  expect(states.filter((state) => !sourceStates.some((one) => one === state))).toEqual([]);
  expect(states).toEqual(expect.arrayContaining([...needsPerson]));
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
