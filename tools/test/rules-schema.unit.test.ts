import { expect, test } from 'vitest';
import { rulesFileJsonSchema } from '../../packages/contract/src/rules-file.ts';

test('docs/rules.schema.json is the schema that the command line reads with (pnpm docs:write writes it anew)', async () => {
  const text = `${JSON.stringify(rulesFileJsonSchema(), undefined, 2)}\n`;
  await expect(text).toMatchFileSnapshot('../../docs/rules.schema.json');
});
