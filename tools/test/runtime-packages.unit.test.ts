import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { findRuntimePackages } from '../runtime-packages.ts';

const root = join(import.meta.dirname, '../..');
const packages = findRuntimePackages(root);
const page = readFileSync(join(root, 'docs/dependencies.md'), 'utf8');
const rows = [...page.matchAll(/^\| (\*\*)?(@?[a-z][\w./-]*)(\*\*)? \|(.*?)\| (.+) \|$/gm)].map(
  ([, bold, name = '', , because = '', purpose = '']) => ({
    bold: bold !== undefined,
    name,
    because,
    purpose,
  }),
);

test('docs/dependencies.md lists exactly the packages that the server and the command line install', () => {
  const listed = rows.map(({ name }) => name);
  expect(listed.toSorted()).toEqual([...new Set(packages.map(({ name }) => name))].toSorted());
});

test('docs/dependencies.md has the right number of packages', () => {
  const [, said] = /together install (\d+) packages/.exec(page) ?? [];
  expect(Number(said)).toBe(packages.length);
});

test('docs/dependencies.md shows our direct dependencies in bold, and for every other package a dependent that exists', () => {
  const manifests = ['apps/server', 'apps/cli', 'packages/mcp', 'packages/contract'].map((dir) =>
    JSON.parse(readFileSync(join(root, dir, 'package.json'), 'utf8')),
  );
  const ours = manifests.flatMap(({ dependencies }) => Object.keys(dependencies ?? {}));
  const chosen = new Set(ours.filter((name) => !name.startsWith('@earshot/')));
  expect(
    rows
      .filter(({ bold }) => bold)
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual([...chosen].toSorted());
  const needs = (one: string, other: string) =>
    packages.some(
      ({ name, dependencies, optionalDependencies }) =>
        name === one && Object.hasOwn({ ...dependencies, ...optionalDependencies }, other),
    );
  const unfounded = rows
    .filter(({ bold }) => !bold)
    .filter(({ name, because }) => !because.split(',').every((one) => needs(one.trim(), name)));
  expect(unfounded).toEqual([]);
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
