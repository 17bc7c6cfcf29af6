import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { truths } from './pages.ts';

test('every alert with an explanation is a critical alert', () => {
  const alerts = readFileSync(new URL('../../deploy/alerts.yaml', import.meta.url), 'utf8');
  const critical = alerts
    .split('- alert: ')
    .slice(1)
    .filter((alert) => alert.includes('severity: page'))
    .map((alert) => alert.split('\n', 1)[0]);
  expect(critical).toEqual(expect.arrayContaining(Object.keys(truths)));
});
