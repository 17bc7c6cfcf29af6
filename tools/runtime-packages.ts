import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
}

/** The packages that the server and the command line need in production, without our own. */
export function findRuntimePackages(root: string): Manifest[] {
  const found = new Map<string, Manifest>();
  const visit = (dir: string): void => {
    const manifest: Manifest = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'));
    const isSeen = found.has(dir);
    found.set(dir, manifest);
    if (isSeen) return;
    for (const name of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
      const next = resolveFrom(dir, name);
      if (next !== null) visit(next);
      else if (!manifest.optionalDependencies?.[name]) throw new Error(`${name} is not installed: ${dir}`);
    }
  };
  visit(join(root, 'apps/server'));
  visit(join(root, 'apps/cli'));
  return [...found.values()].filter(({ name }) => !name.startsWith('@earshot/'));
}

/** As Node resolves packages: in each parent folder. */
function resolveFrom(dir: string, name: string): string | null {
  const candidate = join(dir, 'node_modules', name);
  if (existsSync(candidate)) return realpathSync(candidate);
  return dir === dirname(dir) ? null : resolveFrom(dirname(dir), name);
}
