import { join, resolve } from 'node:path';
import { cruise } from 'dependency-cruiser';
import extractOptions from 'dependency-cruiser/config-utl/extract-depcruise-options';

interface Boundaries {
  violations: string[];
  /** The number of our sources that were checked. */
  modules: number;
}

/** The imports below a folder that break `.dependency-cruiser.mjs`. Checking no files is an error, not a success. */
export async function findBoundaryViolations(dir: string): Promise<Boundaries> {
  const options = await extractOptions(resolve(import.meta.dirname, '../.dependency-cruiser.mjs'));
  const { output } = await cruise(['packages', 'apps', 'e2e'], { ...options, baseDir: dir });
  if (typeof output === 'string') throw new Error(`dependency-cruiser returned text: ${output}`);
  const modules = output.modules.filter(({ source }) => /^(packages|apps|e2e)\/.*\.ts$/.test(source)).length;
  if (modules === 0) throw new Error(`dependency-cruiser found no sources below ${join(dir, '/')}`);
  const violations = output.summary.violations.map(({ from, to, rule, cycle }) => {
    const way = cycle === undefined ? to : cycle.map(({ name }) => name).join(' → ');
    return `${rule.name}: ${from} → ${way}`;
  });
  return { violations, modules };
}
