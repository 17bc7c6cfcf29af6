import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { truths } from './pages.ts';

test('whatever makes a page true belongs to an alert that pages', () => {
  const alerts = readFileSync(new URL('../../deploy/alerts.yaml', import.meta.url), 'utf8');
  const pages = alerts
    .split('- alert: ')
    .slice(1)
    .filter((alert) => alert.includes('severity: page'))
    .map((alert) => alert.split('\n', 1)[0]);
  expect(pages).toEqual(expect.arrayContaining(Object.keys(truths)));
});
