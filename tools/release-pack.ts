import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { buildPackage as buildCliPackage } from '../apps/cli/build/build-package.ts';
import { buildPackage as buildSdkPackage } from '../packages/sdk/build/build-package.ts';
import { billOfMaterials, findBundledPackages, licenseTexts } from './bundled-packages.ts';
import { type Addresses, buildPythonPackage, findPython } from './python-package.ts';

/**
 * Packs the npm packages and the Python package for publishing, each with a bill of materials:
 *
 *     pnpm release:pack --out DIR [--tag vX.Y.Z] [--repository https://…]
 *
 * `--tag` is compared with the version. `--repository` replaces the addresses in the manifests: provenance requires the
 * repository that the packages are built from.
 */
interface Package {
  readonly name: string;
  /** Writes the package to a folder; returns the ids of the bundled modules. */
  readonly build: (dir: string) => Promise<readonly string[]>;
}

interface Release {
  readonly version: string;
  readonly outDir: string;
  /** Fields of the manifests to replace. */
  readonly addresses: Addresses;
}

const root = resolve(import.meta.dirname, '..');
const packages: readonly Package[] = [
  {
    name: '@earshot/sdk',
    build: async (dir) => {
      await buildSdkPackage(dir);
      return [];
    },
  },
  { name: 'earshot', build: buildCliPackage },
];

async function pack({ name, build }: Package, { version, outDir, addresses }: Release): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'earshot-pack-'));
  try {
    const modules = await build(dir);
    const manifest = { ...(await readManifest(dir)), ...addresses };
    if (manifest.name !== name || manifest.version !== version)
      throw new Error(`${manifest.name} ${manifest.version} was built, not ${name} ${version}.`);
    await writeJson(join(dir, 'package.json'), manifest);
    await copyFile(join(root, 'LICENSE'), join(dir, 'LICENSE'));
    const bundled = await findBundledPackages(modules, join(root, 'apps/cli/node_modules/rolldown'));
    if (bundled.length > 0) await writeFile(join(dir, 'THIRD-PARTY-LICENSES.txt'), licenseTexts(bundled));
    const bill = billOfMaterials(manifest, bundled);
    await writeJson(join(dir, 'bom.cdx.json'), bill);
    const { stdout } = await promisify(execFile)('npm', ['pack', '--json', '--pack-destination', outDir], {
      cwd: dir,
    });
    const [{ filename }] = JSON.parse(stdout);
    await writeJson(join(outDir, filename.replace(/\.tgz$/, '.cdx.json')), bill);
    process.stdout.write(`${join(outDir, filename)}\n`);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** The wheel and the source distribution. A machine without the build backend packs only the npm packages, and says so. */
async function packPython({ version, outDir, addresses }: Release): Promise<void> {
  const python = await findPython();
  if (python === undefined) {
    const message =
      'The Python package was not built: it needs python3 with build and hatchling (Debian: python3-build, python3-hatchling).';
    if (values.tag !== undefined) throw new Error(message);
    process.stderr.write(`${message}\n`);
    return;
  }
  const files = await buildPythonPackage(python, { version, outDir, addresses });
  const product = { name: 'earshot', version, license: 'Apache-2.0', registry: 'pypi' } as const;
  await writeJson(join(outDir, `earshot-${version}-py3-none-any.cdx.json`), billOfMaterials(product, []));
  for (const file of files) process.stdout.write(`${file}\n`);
}

const readManifest = async (dir: string) => JSON.parse(await readFile(join(dir, 'package.json'), 'utf8'));

const writeJson = (file: string, value: object) => writeFile(file, `${JSON.stringify(value, null, 2)}\n`);

/** The addresses of the repository in the manifest, or of its fork. */
function addressesOf({ homepage, repository, bugs }: Addresses, fork: string | undefined): Addresses {
  if (fork === undefined) return { homepage, repository, bugs };
  return {
    homepage: `${fork}#readme`,
    repository: { type: 'git', url: `git+${fork}.git` },
    bugs: { url: `${fork}/issues` },
  };
}

const { values } = parseArgs({
  options: { out: { type: 'string' }, tag: { type: 'string' }, repository: { type: 'string' } },
});
if (values.out === undefined)
  throw new Error('pnpm release:pack --out DIR [--tag vX.Y.Z] [--repository https://…]');
const manifest = await readManifest(root);
const { version } = manifest;
if (values.tag !== undefined && values.tag !== `v${version}`)
  throw new Error(`The tag ${values.tag} is not v${version}, the version in package.json.`);
const outDir = resolve(values.out);
await mkdir(outDir, { recursive: true });
const addresses = addressesOf(manifest, values.repository);
const release = { version, outDir, addresses };
for (const one of packages) await pack(one, release);
await packPython(release);
