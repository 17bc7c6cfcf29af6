import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { guardsOf, nightly } from './nightly.ts';

/**
 * `pnpm test:nightly`: the tests of `tools/nightly.ts`, one file at a time. For each file that passed on committed files, the
 * commit is written to `.ci/nightly-passed`; commit that. `--changed` leaves out those of which nothing that they guard has
 * changed since then. Everything else is for vitest: `pnpm test:nightly kill`.
 */
const root = resolve(import.meta.dirname, '..');
const record = join(root, '.ci/nightly-passed');
const given = process.argv.slice(2);
const isChangedOnly = given.includes('--changed');
const forVitest = given.filter((one) => one !== '--changed');

const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' });

/** Of each file, the commit at which it last passed. */
function readPassed(): Map<string, string> {
  const lines = readFileSync(record, 'utf8').split('\n').filter(Boolean);
  return new Map(lines.map((line) => line.split(' ') as [string, string]));
}

/** Null when it cannot be told, in a clone without that commit. */
function changedSince(commit: string): string[] | null {
  try {
    return git('diff', '--name-only', '--no-renames', commit, '--').split('\n').filter(Boolean);
  } catch {
    return null;
  }
}

/** Those that never passed, and those of which something that they guard has changed since. */
function findDue(): string[] {
  const passed = readPassed();
  const commits = new Set(passed.values());
  const due = new Map(
    Array.from(commits, (commit) => {
      const changed = changedSince(commit);
      return [commit, changed === null ? null : new Set(guardsOf(changed))] as const;
    }),
  );
  return Object.keys(nightly).filter((file) => due.get(passed.get(file) ?? '')?.has(file) ?? true);
}

function recordPassed(report: string): void {
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
    testResults: ReadonlyArray<{ name: string; status: string }>;
  };
  const commit = git('rev-parse', 'HEAD').trim();
  const passed = readPassed();
  for (const { name, status } of testResults)
    if (status === 'passed') passed.set(relative(root, name), commit);
  const lines = Array.from(passed, (line) => `${line.join(' ')}\n`);
  writeFileSync(record, lines.toSorted().join(''));
}

/** None named: all of the project, or those that vitest is asked for. */
const files = isChangedOnly ? findDue() : [];
if (isChangedOnly) console.log(`${files.length} nightly files guard what has changed since they passed`);
if (!isChangedOnly || files.length > 0) {
  const isCommitted = git('status', '--porcelain') === '';
  const dir = mkdtempSync(join(tmpdir(), 'earshot-nightly-'));
  const report = join(dir, 'report.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const args = ['run', '--project', 'nightly', ...reporters, ...files, ...forVitest];
  const { status } = spawnSync('vitest', args, { cwd: root, stdio: 'inherit' });
  process.exitCode = status ?? 1;
  // An option may leave out tests of a file.
  if (isCommitted && !forVitest.some((one) => one.startsWith('-'))) recordPassed(report);
  rmSync(dir, { recursive: true });
}
