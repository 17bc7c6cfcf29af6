import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Mutation } from './mutation.ts';
import { mutations } from './mutations.ts';

/**
 * `pnpm test:mutations [--only TEXT]`: takes each protection of `tools/mutations.ts` out of a copy of the working tree and
 * runs the tests that have to notice. Fails when fewer than 95 % are noticed, or one that is not has no reason in the table.
 * It takes up to half an hour on two cores.
 */
const root = resolve(import.meta.dirname, '..');
const noticedMin = 0.95;
/** For one mutation. Who waits for ever has noticed too. */
const withinMs = 600_000;

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });
const chosen = mutations.filter(({ name, file }) => `${name} ${file}`.includes(values.only));

/** `broken`: the tests could not be run at all, which says nothing about them. */
type Outcome = 'noticed' | 'not noticed' | 'broken';

const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' });

/** Everything that git has or would add, and the installed packages by links: ours lead to the copy. */
function copyTree(copy: string): void {
  const ours = git('ls-files', '-z', '--cached', '--others', '--exclude-standard')
    .split('\0')
    .filter(Boolean);
  const packages = ours
    .filter((path) => path.endsWith('/package.json'))
    .map((path) => path.replace('package.json', 'node_modules'));
  for (const path of [...ours, ...packages].filter((one) => existsSync(join(root, one))))
    cpSync(join(root, path), join(copy, path), { recursive: true, verbatimSymlinks: true });
  for (const path of ['node_modules', '.earshot'].filter((one) => existsSync(join(root, one))))
    symlinkSync(join(root, path), join(copy, path));
  // Some tests ask git which files there are.
  execFileSync('git', ['init', '--quiet'], { cwd: copy });
}

function projectOf(copy: string, test: string): string {
  if (test.endsWith('.unit.test.ts')) return 'unit';
  if (test.endsWith('.int.test.ts')) return 'int';
  return readFileSync(join(copy, test), 'utf8').includes('shareWorld(') ? 'e2e-shared' : 'e2e';
}

async function runTests(copy: string, tests: readonly string[]): Promise<Outcome> {
  const report = join(copy, 'report.json');
  rmSync(report, { force: true });
  const projects = [...new Set(tests.map((test) => projectOf(copy, test)))];
  const args = [
    join(copy, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--reporter=json',
    `--outputFile=${report}`,
    ...projects.flatMap((project) => ['--project', project]),
    ...tests,
  ];
  const child = spawn(process.execPath, args, { cwd: copy, stdio: 'ignore' });
  let isLate = false;
  const clock = setTimeout(() => {
    isLate = true;
    child.kill();
  }, withinMs);
  await new Promise((done) => child.once('close', done));
  clearTimeout(clock);
  if (isLate) return 'noticed';
  if (!existsSync(report)) return 'broken';
  const { numFailedTests, numPassedTests, success } = JSON.parse(readFileSync(report, 'utf8'));
  if (numFailedTests > 0) return 'noticed';
  // A file that cannot even be loaded has no failed tests, but is no success either.
  return success && numPassedTests > 0 ? 'not noticed' : 'broken';
}

async function tryMutation(copy: string, { file, find, replace, tests }: Mutation): Promise<Outcome> {
  const path = join(copy, file);
  const text = readFileSync(path, 'utf8');
  if (text.split(find).length !== 2) throw new Error(`${file} does not have once: ${find}`);
  // By a function: in a text "$1" would mean something.
  writeFileSync(
    path,
    text.replace(find, () => replace),
  );
  try {
    return await runTests(copy, tests);
  } finally {
    writeFileSync(path, text);
  }
}

async function main(): Promise<void> {
  const copy = mkdtempSync(join(tmpdir(), 'earshot-mutations-'));
  process.once('exit', () => rmSync(copy, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  copyTree(copy);

  const tests = [...new Set(chosen.flatMap((one) => one.tests))];
  for (const test of tests) {
    if ((await runTests(copy, [test])) !== 'not noticed') {
      console.error(`${test} fails without a mutation: mend that first.`);
      process.exitCode = 1;
      return;
    }
  }
  console.log(`${tests.length} test files pass without a mutation`);

  const outcomes: { mutation: Mutation; outcome: Outcome }[] = [];
  for (const mutation of chosen) {
    const startedAt = performance.now();
    const outcome = await tryMutation(copy, mutation);
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    const reason = outcome === 'noticed' ? '' : `: ${mutation.survives ?? 'no reason is known'}`;
    console.log(`${outcome.padEnd(11)} ${String(seconds).padStart(4)} s  ${mutation.name}${reason}`);
    outcomes.push({ mutation, outcome });
  }

  const noticed = outcomes.filter(({ outcome }) => outcome === 'noticed').length;
  console.log(
    `${noticed} of ${outcomes.length} noticed (${((100 * noticed) / outcomes.length).toFixed(1)} %)`,
  );
  const unexplained = outcomes.filter(
    ({ mutation, outcome }) => (outcome === 'noticed') === (mutation.survives !== undefined),
  );
  for (const { mutation, outcome } of unexplained)
    console.error(`${mutation.name}: ${outcome}, and the table says otherwise`);
  const isBroken = outcomes.some(({ outcome }) => outcome === 'broken');
  if (isBroken || unexplained.length > 0 || noticed < noticedMin * outcomes.length) process.exitCode = 1;
}

await main();
