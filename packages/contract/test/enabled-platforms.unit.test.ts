import { afterEach, expect, test, vi } from 'vitest';

const rule = {
  name: 'Acme',
  intent: 'Mentions',
  platforms: ['x', 'bluesky'],
  overrides: { x: 'acme', bluesky: 'acme' },
};

/** Loads the contract as a process with this environment does: its schemas are built once. */
async function contractWith(blueskyUrl: string) {
  vi.resetModules();
  vi.stubEnv('EARSHOT_BLUESKY_URL', blueskyUrl);
  const contract = await import('@earshot/contract');
  const document = JSON.stringify(contract.openApiDocument());
  return { ...contract, document };
}

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

test('a platform that is not switched on is unknown: no schema or document names it', async () => {
  const { document, platforms, operations } = await contractWith('');
  expect(platforms).toEqual(['x', 'firehose']);
  expect(document).not.toMatch(/bluesky/i);
  const refused = operations.CreateRule.request.safeParse(rule);
  const messages = refused.error?.issues.map(({ message }) => message).join('\n');
  expect(messages).toContain('"bluesky" is not a platform. Did you mean "x" or "firehose"?');
});

test('switched on, it is one like the others', async () => {
  const { document, platforms, operations } = await contractWith('ws://127.0.0.1:1');
  expect(platforms).toEqual(['x', 'firehose', 'bluesky']);
  expect(document).toMatch(/bluesky/);
  expect(operations.CreateRule.request.safeParse(rule).success).toBe(true);
});
