import { expect, test } from 'vitest';
import { createMetrics } from '../../apps/server/src/observability/metrics.ts';
import { renderDashboard } from '../dashboard.ts';

test('deploy/grafana/earshot.json matches tools/dashboard.ts (regenerate it with pnpm dashboard:write)', async () => {
  await expect(renderDashboard()).toMatchFileSnapshot('../../deploy/grafana/earshot.json');
});

test('every metric on the dashboard is exported', async () => {
  const exported = new Set((await createMetrics().registry.getMetricsAsJSON()).map(({ name }) => name));
  const used = renderDashboard().match(/\bearshot_\w+/g) ?? [];
  expect(used.length).toBeGreaterThan(30);
  const names = used.map((name) => name.replace(/_bucket$/, ''));
  expect(names.filter((name) => !exported.has(name))).toEqual([]);
});
