import { execFileSync, spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { resolve } from 'node:path';
import { lanes, lanesFor } from './nightly.ts';

/**
 * `pnpm test:nightly [LANE …]`: the long tests of `tools/nightly.ts`, one file at a time; without arguments, all lanes.
 * `--since COMMIT` prints the lanes that the changes since that commit require, and runs nothing.
 */
const root = resolve(import.meta.dirname, '..');
const given = process.argv.slice(2);

function changedSince(commit: string): string[] {
  const paths = execFileSync('git', ['diff', '--name-only', '--no-renames', commit, '--'], {
    cwd: root,
    encoding: 'utf8',
  });
  return paths.split('\n').filter(Boolean);
}

function run(command: string, args: readonly string[]): void {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exitCode = status ?? 1;
}

function runLanes(names: readonly string[]): void {
  const unknown = names.filter((name) => !(name in lanes));
  if (unknown.length > 0) {
    console.error(`No lane is named ${unknown.join(', ')}. Choose from: ${Object.keys(lanes).join(', ')}.`);
    process.exitCode = 2;
    return;
  }
  const chosen = names.length === 0 ? Object.keys(lanes) : names;
  for (const dir of chosen.flatMap((name) => lanes[name]?.installs ?? [])) {
    run('pnpm', ['--dir', dir, 'install', '--frozen-lockfile']);
  }
  const files = chosen.flatMap((name) => globSync([...(lanes[name]?.tests ?? [])], { cwd: root }));
  const projects = ['nightly', 'browser-nightly', 'docs', 'examples', 'containers'].flatMap((name) => [
    '--project',
    name,
  ]);
  run('vitest', ['run', ...projects, '--no-file-parallelism', ...new Set(files)]);
}

if (given[0] === '--since') console.log(lanesFor(changedSince(given[1] ?? 'HEAD')).join(' '));
else runLanes(given);
