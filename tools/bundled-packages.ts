import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A third-party package, parts of which are in a bundle. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  /** An SPDX identifier. */
  readonly license: string;
  readonly licenseText: string;
}

interface Product {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  /** Where it is published. npm by default. */
  readonly registry?: 'npm' | 'pypi';
}

/** The packages that a bundle's modules come from. Modules without a file are the bundler's own helpers for newer syntax. */
export async function findBundledPackages(
  moduleIds: readonly string[],
  bundlerDir: string,
): Promise<BundledPackage[]> {
  const dirs = moduleIds.flatMap((id) => {
    if (id.startsWith('\0')) return [bundlerDir];
    const [dir] = /^.*\/node_modules\/(@[^/]+\/)?[^/]+/.exec(id) ?? [];
    return dir === undefined ? [] : [dir];
  });
  const packages = await Promise.all([...new Set(dirs)].map(readPackage));
  return packages.toSorted((one, other) => one.name.localeCompare(other.name));
}

async function readPackage(dir: string): Promise<BundledPackage> {
  const { name, version, license } = JSON.parse(await readFile(join(dir, 'package.json'), 'utf8'));
  const file = (await readdir(dir)).find((entry) => /^licen[cs]e(\.|$)/i.test(entry));
  if (typeof license !== 'string' || file === undefined)
    throw new Error(`${name} does not say its licence: ${dir}`);
  return { name, version, license, licenseText: (await readFile(join(dir, file), 'utf8')).trim() };
}

/** CycloneDX: the product and the packages bundled into it. Has no times or random ids, so that builds are reproducible. */
export function billOfMaterials(product: Product, bundled: readonly BundledPackage[]): object {
  const root = component('application', product);
  const components = bundled.map((one) => component('library', one));
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: root },
    components,
    dependencies: [{ ref: root.purl, dependsOn: components.map(({ purl }) => purl) }],
  };
}

function component(type: 'application' | 'library', { name, version, license, registry = 'npm' }: Product) {
  const purl = `pkg:${registry}/${name.replace('@', '%40')}@${version}`;
  return { type, 'bom-ref': purl, name, version, licenses: [{ license: { id: license } }], purl };
}

export function licenseTexts(bundled: readonly BundledPackage[]): string {
  return bundled
    .map(({ name, version, license, licenseText }) => `${name} ${version} (${license})\n\n${licenseText}\n`)
    .join(`\n${'-'.repeat(80)}\n\n`);
}
