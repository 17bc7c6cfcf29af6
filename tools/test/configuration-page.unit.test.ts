import { expect, test } from 'vitest';
import { renderConfigurationPage, renderEnvironmentFile } from '../configuration-page.ts';

test('docs/configuration.md says what the server accepts (pnpm docs:write writes it anew)', async () => {
  await expect(renderConfigurationPage()).toMatchFileSnapshot('../../docs/configuration.md');
});

test('deploy/earshot.env.example has every setting that an operator makes (pnpm docs:write writes it anew)', async () => {
  await expect(renderEnvironmentFile()).toMatchFileSnapshot('../../deploy/earshot.env.example');
});
