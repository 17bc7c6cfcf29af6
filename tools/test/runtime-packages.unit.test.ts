import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { findRuntimePackages } from '../runtime-packages.ts';

const root = join(import.meta.dirname, '../..');
const packages = findRuntimePackages(root);
const page = readFileSync(join(root, 'docs/dependencies.md'), 'utf8');

test('docs/dependencies.md has the number of installed packages, and lists those that we chose', () => {
  const manifests = ['apps/server', 'apps/cli', 'packages/mcp', 'packages/contract', 'packages/sandbox'].map(
    (dir) => JSON.parse(readFileSync(join(root, dir, 'package.json'), 'utf8')),
  );
  const ours = manifests.flatMap(({ dependencies }) => Object.keys(dependencies ?? {}));
  const chosen = new Set(ours.filter((name) => !name.startsWith('@earshot/')));
  const listed = Array.from(page.matchAll(/^\| (@?[a-z][\w./-]*) \| .+ \|$/gm), ([, name = '']) => name);
  expect(listed.toSorted()).toEqual([...chosen].toSorted());
  const [, installed, direct] =
    /together install (\d+) packages .* Earshot chose (\d+) of them/.exec(page) ?? [];
  expect([installed, direct].map(Number)).toEqual([packages.length, chosen.size]);
});

test('the bill of materials has the same packages in the same versions', async () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const { stdout } = await promisify(execFile)('sh', ['-c', scripts.bom], {
    cwd: root,
    maxBuffer: 64 * 1024 * 1024,
  });
  const bom = JSON.parse(stdout);
  expect(bom).toMatchObject({ bomFormat: 'CycloneDX' });
  const purls: string[] = bom.components.map(({ purl }: { purl: string }) => decodeURIComponent(purl));
  const theirs = purls.filter((purl) => !purl.startsWith('pkg:npm/@earshot/'));
  const expected = packages.map(({ name, version }) => `pkg:npm/${name}@${version}`);
  expect(theirs.toSorted()).toEqual(expected.toSorted());
});
