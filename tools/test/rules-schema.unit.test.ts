import { expect, test } from 'vitest';
import { rulesFileJsonSchema } from '../../packages/contract/src/rules-file.ts';

test('docs/rules.schema.json is the schema that the command line uses (regenerate it with pnpm docs:write)', async () => {
  const text = `${JSON.stringify(rulesFileJsonSchema(), undefined, 2)}\n`;
  await expect(text).toMatchFileSnapshot('../../docs/rules.schema.json');
});
