import { expect, test } from 'vitest';
import { createMetrics } from '../../apps/server/src/observability/metrics.ts';
import { renderDashboard } from '../dashboard.ts';

test('deploy/grafana/earshot.json is what tools/dashboard.ts says (pnpm dashboard:write writes it anew)', async () => {
  await expect(renderDashboard()).toMatchFileSnapshot('../../deploy/grafana/earshot.json');
});

test('every metric on the dashboard is one that we export', async () => {
  const exported = new Set((await createMetrics().registry.getMetricsAsJSON()).map(({ name }) => name));
  const used = renderDashboard().match(/\bearshot_\w+/g) ?? [];
  expect(used.length).toBeGreaterThan(30);
  const names = used.map((name) => name.replace(/_bucket$/, ''));
  expect(names.filter((name) => !exported.has(name))).toEqual([]);
});
