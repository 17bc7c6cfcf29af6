import { afterAll, expect, test, vi } from 'vitest';

// The contract is loaded again with all platforms: a client calls servers with any of them.
vi.resetModules();
vi.stubEnv('EARSHOT_BLUESKY_URL', 'wss://jetstream.example');
afterAll(() => vi.unstubAllEnvs());
const { renderPythonSdk } = await import('../python-sdk.ts');
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
