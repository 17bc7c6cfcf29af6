import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { billOfMaterials, findBundledPackages } from '../bundled-packages.ts';

const root = join(import.meta.dirname, '../..');

test('refuses a tag that differs from the version before it builds anything', async () => {
  const out = join(root, 'node_modules/.cache/never-packed');
  const packing = promisify(execFile)(process.execPath, [
    join(root, 'tools/release-pack.ts'),
    '--out',
    out,
    '--tag',
    'v99.0.0',
  ]);
  await expect(packing).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('The tag v99.0.0 is not v'),
  });
  expect(existsSync(out)).toBe(false);
});

test('every manifest has the same version, and the changelog has a section for it', () => {
  const versionOf = (path: string): string =>
    JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8')).version;
  const version = versionOf('.');
  expect(['packages/sdk', 'apps/cli'].map(versionOf)).toEqual([version, version]);
  const project = readFileSync(join(root, 'sdks/python/pyproject.toml'), 'utf8');
  expect(project).toContain(`\nversion = "${version}"\n`);
  expect(readFileSync(join(root, 'CHANGELOG.md'), 'utf8')).toContain(`\n## v${version}\n`);
});

test('finds the packages of modules, also scoped and nested ones, and the bundler for its helpers', async () => {
  const bundler = join(root, 'apps/cli/node_modules/rolldown');
  const yaml = join(root, 'apps/cli/node_modules/yaml');
  const server = join(root, 'packages/mcp/node_modules/@modelcontextprotocol/server');
  const found = await findBundledPackages(
    [
      '\0rolldown/runtime.js',
      join(root, 'apps/cli/src/main.ts'),
      `${yaml}/dist/index.js`,
      `${yaml}/dist/parse/lexer.js`,
      `${server}/dist/index.mjs`,
    ],
    bundler,
  );
  expect(found.map(({ name }) => name)).toEqual(['@modelcontextprotocol/server', 'rolldown', 'yaml']);
  const bill = billOfMaterials({ name: '@a/b', version: '1.0.0', license: 'MIT' }, found);
  expect(bill).toMatchObject({
    bomFormat: 'CycloneDX',
    metadata: { component: { purl: 'pkg:npm/%40a/b@1.0.0' } },
    components: [{ licenses: [{ license: { id: 'Apache-2.0' } }] }, {}, { name: 'yaml' }],
  });
});

test('refuses to bundle a package without a licence', async () => {
  const mcp = `${root}/packages/mcp/node_modules/@earshot/contract`;
  await expect(findBundledPackages([`${mcp}/src/index.ts`], '')).rejects.toThrow('does not say its licence');
});
