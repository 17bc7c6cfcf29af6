import { expect, test } from 'vitest';
import { renderConfigurationPage } from '../configuration-page.ts';

test('docs/configuration.md says what the server accepts (pnpm docs:write writes it anew)', async () => {
  await expect(renderConfigurationPage()).toMatchFileSnapshot('../../docs/configuration.md');
});
