import { expect, test } from 'vitest';
import { renderMetricsPage } from '../metrics-page.ts';

test('docs/operations/metrics.md says what the server exports (pnpm docs:write writes it anew)', async () => {
  await expect(await renderMetricsPage()).toMatchFileSnapshot('../../docs/operations/metrics.md');
});
