import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { findBoundaryViolations } from './boundaries.ts';
import { findLargeParts } from './console-size.ts';
import { findForbiddenWords } from './plain-words.ts';
import {
  findExcuses,
  findIgnoredSources,
  findProcessAccess,
  readSourceFiles,
  readTextFiles,
} from './source-files.ts';
import { findStructureProblems } from './structure.ts';

/** A check returns its problems as text; an empty text is success. */
interface Check {
  name: string;
  run(): Promise<string>;
}

const root = resolve(import.meta.dirname, '..');
const concurrency = 2;
const formatted = [
  'packages',
  'apps',
  'e2e',
  'bench',
  'examples',
  'tools',
  'vitest.config.ts',
  '.dependency-cruiser.mjs',
];

const tool = (name: string, command: string, ...args: string[]): Check => ({
  name,
  run: () => runTool(join(root, 'node_modules/.bin', command), args),
});

/** The slow ones first, so that the two lanes end together. */
const checks: Check[] = [
  tool('types', 'tsc', '--incremental', '--tsBuildInfoFile', 'node_modules/.cache/tsc.json'),
  tool('page types', 'tsc', '-p', 'apps/console/src'),
  tool('lint', 'oxlint', '--type-aware', '--deny-warnings'),
  {
    name: 'boundaries',
    run: async () => (await findBoundaryViolations(root)).violations.join('\n'),
  },
  { name: 'console size', run: checkConsoleSize },
  tool('dead code', 'knip', '--no-progress'),
  tool('format', 'biome', 'ci', '--colors=off', ...formatted),
  { name: 'ignored files', run: async () => (await findIgnoredSources(root)).join('\n') },
  { name: 'excused tests', run: async () => findExcuses(await readSourceFiles(root)).join('\n') },
  { name: 'process access', run: async () => findProcessAccess(await readSourceFiles(root)).join('\n') },
  { name: 'words', run: async () => findForbiddenWords(await readTextFiles(root)).join('\n') },
  { name: 'structure', run: async () => findStructureProblems(await readSourceFiles(root)).join('\n') },
];

/** Checks a new build: an older one may be from other sources. */
async function checkConsoleSize(): Promise<string> {
  const dist = join(root, 'node_modules/.cache/console');
  const vite = join(root, 'apps/console/node_modules/.bin/vite');
  const args = [
    'build',
    join(root, 'apps/console'),
    '--outDir',
    dist,
    '--emptyOutDir',
    '--logLevel',
    'error',
  ];
  return (await runTool(vite, args)) || (await findLargeParts(dist)).join('\n');
}

async function runTool(command: string, args: string[]): Promise<string> {
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const exit = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  const [code, stdout, stderr] = await Promise.all([exit, text(child.stdout), text(child.stderr)]);
  return code === 0 ? '' : `${stdout}${stderr}`.trim() || `exit code ${code}`;
}

async function runCheck(check: Check): Promise<boolean> {
  const start = performance.now();
  const problem = await check.run().catch((error: unknown) => String(error));
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`${problem === '' ? '✓' : '✗'} ${check.name.padEnd(14)} ${seconds.padStart(5)} s`);
  if (problem !== '') console.log(`${problem}\n`);
  return problem === '';
}

async function main(): Promise<void> {
  const start = performance.now();
  const waiting = checks.values();
  const results: boolean[] = [];
  const lane = async (): Promise<void> => {
    for (const check of waiting) results.push(await runCheck(check));
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  const failed = results.filter((passed) => !passed).length;
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`${results.length - failed} checks passed, ${failed} failed in ${seconds} s`);
  if (failed > 0) process.exitCode = 1;
}

await main();
