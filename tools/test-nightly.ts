import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { guardsOf } from './nightly.ts';

/**
 * `pnpm test:nightly`: the tests of `tools/nightly.ts`, one file at a time. When all of them passed on committed files, the
 * commit is written to `.ci/nightly-passed`; commit that. `--changed` leaves out those of which nothing that they guard has
 * changed since then. Everything else is for vitest: `pnpm test:nightly kill`.
 */
const root = resolve(import.meta.dirname, '..');
const record = join(root, '.ci/nightly-passed');
const { values, tokens } = parseArgs({
  options: { changed: { type: 'boolean', default: false } },
  strict: false,
  allowPositionals: true,
  tokens: true,
});
const given = process.argv.slice(2);
const forVitest = given.filter(
  (_, index) =>
    !tokens.some((token) => token.kind === 'option' && token.name === 'changed' && token.index === index),
);

const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' });

/** Null when it cannot be told: a clone without that commit, or no record. Then everything counts as changed. */
function changedSince(): string[] | null {
  try {
    const passed = readFileSync(record, 'utf8').trim();
    return git('diff', '--name-only', '--no-renames', passed, '--').split('\n').filter(Boolean);
  } catch {
    return null;
  }
}

const changed = values['changed'] === true ? changedSince() : null;
/** None named: all of the project, or those that vitest is asked for. */
const files = changed === null ? [] : guardsOf(changed);
if (changed !== null) console.log(`${files.length} nightly files guard what has changed since they passed`);
if (changed === null || files.length > 0) {
  const { status } = spawnSync('vitest', ['run', '--project', 'nightly', ...files, ...forVitest], {
    cwd: root,
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
  const isWhole = values['changed'] !== true && forVitest.length === 0;
  if (status === 0 && isWhole && git('status', '--porcelain') === '')
    writeFileSync(record, git('rev-parse', 'HEAD'));
}
