import { expect, test } from 'vitest';
import { renderPythonSdk } from '../python-sdk.ts';

const { types, calls } = renderPythonSdk();

test.for([
  ['types', types],
  ['calls', calls],
])(
  'the module %s of the Python SDK follows the contract (regenerate it with pnpm docs:write)',
  async ([name, text]) => {
    await expect(text).toMatchFileSnapshot(`../../sdks/python/src/earshot/${name}.py`);
  },
);
