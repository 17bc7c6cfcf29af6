import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

/**
 * `pnpm advisories`: known vulnerabilities of the packages that run in production, as the registry reports them. `pnpm audit`
 * also exits with 1 if the registry does not answer. Here 1 means that there are some, and 2 that the result is unknown.
 */
const { stdout, stderr, error } = spawnSync('pnpm', ['audit', '--prod', '--json', ...process.argv.slice(2)], {
  cwd: resolve(import.meta.dirname, '..'),
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
});

interface Advisory {
  readonly severity: string;
  readonly module_name: string;
  readonly vulnerable_versions: string;
  readonly title: string;
  readonly url: string;
}

interface Report {
  readonly advisories: Record<string, Advisory>;
  readonly metadata: { readonly totalDependencies: number };
}

function readReport(): Report | null {
  try {
    const report: Report = JSON.parse(stdout);
    return typeof report.advisories === 'object' && report.metadata.totalDependencies > 0 ? report : null;
  } catch {
    return null;
  }
}

const report = readReport();
if (report === null) {
  console.error(`Unknown: the registry did not answer.\n${error?.message ?? stderr}`);
  process.exitCode = 2;
} else {
  const found = Object.values(report.advisories);
  for (const { severity, module_name: name, vulnerable_versions: versions, title, url } of found)
    console.log(`${severity}: ${name} ${versions}: ${title} ${url}`);
  console.log(`${found.length} known advisories for ${report.metadata.totalDependencies} packages`);
  process.exitCode = found.length === 0 ? 0 : 1;
}
