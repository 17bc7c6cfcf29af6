import { expect, test } from 'vitest';
import { renderMetricsPage } from '../metrics-page.ts';

test('docs/operations/metrics.md matches the exported metrics (regenerate it with pnpm docs:write)', async () => {
  await expect(await renderMetricsPage()).toMatchFileSnapshot('../../docs/operations/metrics.md');
});
