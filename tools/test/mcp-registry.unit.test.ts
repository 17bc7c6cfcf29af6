import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mcpName } from '../../apps/cli/build/build-package.ts';

const root = join(import.meta.dirname, '../..');
const readJson = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'));
const server = readJson('server.json');

test('the entry for the MCP registry has the name of the published package, which proves its owner', () => {
  expect(server.name).toBe(mcpName);
  expect(server.name).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
  expect(server.packages).toMatchObject([
    { registryType: 'npm', identifier: 'earshot', transport: { type: 'stdio' } },
  ]);
});

test('it has the version and homepage of the repository, and texts that the registry accepts', () => {
  const { version, homepage } = readJson('package.json');
  expect([server.version, server.packages[0].version, server.websiteUrl]).toEqual([
    version,
    version,
    homepage,
  ]);
  expect(new URL(homepage).hostname.split('.').toReversed().join('.')).toBe(server.name.split('/')[0]);
  expect(server.description.length).toBeLessThanOrEqual(100);
});

test('it names the variables that the command reads, and the key is a secret', () => {
  const [{ environmentVariables, packageArguments }] = server.packages;
  expect(packageArguments).toEqual([{ type: 'positional', value: 'mcp' }]);
  expect(environmentVariables).toMatchObject([
    { name: 'EARSHOT_URL', isRequired: true },
    { name: 'EARSHOT_API_KEY', isRequired: true, isSecret: true },
  ]);
});
