import { expect, test } from 'vitest';
import { renderCliPage } from '../cli-page.ts';

test('docs/cli.md matches the command line (regenerate it with pnpm docs:write)', async () => {
  await expect(renderCliPage()).toMatchFileSnapshot('../../docs/cli.md');
});
