import { expect, test } from 'vitest';
import { renderCliPage } from '../cli-page.ts';

test('docs/cli.md says what the command line takes (pnpm docs:write writes it anew)', async () => {
  await expect(renderCliPage()).toMatchFileSnapshot('../../docs/cli.md');
});
