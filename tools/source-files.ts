import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface SourceFile {
  path: string;
  text: string;
}

/** Everything that git has or would add. */
export async function readSourceFiles(root: string): Promise<SourceFile[]> {
  const paths = await listSources(root, ['--cached', '--others']);
  const files = await Promise.all(
    // A file may be deleted and not yet committed.
    paths.map(async (path) => ({ path, text: await readFile(join(root, path), 'utf8').catch(() => '') })),
  );
  if (files.length === 0) throw new Error(`git knows no sources in ${root}`);
  return files;
}

/** A pattern in .gitignore that is too wide keeps sources out of commits, and out of every tool that reads it. */
export async function findIgnoredSources(root: string): Promise<string[]> {
  const paths = await listSources(root, ['--others', '--ignored', '--', 'packages', 'apps', 'e2e', 'tools']);
  return paths
    .filter((path) => !/(^|\/)(node_modules|dist)\//.test(path))
    .map((path) => `${path}: git ignores it`);
}

async function listSources(root: string, args: string[]): Promise<string[]> {
  const { stdout } = await promisify(execFile)('git', ['ls-files', '-z', '--exclude-standard', ...args], {
    cwd: root,
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout.split('\0').filter((path) => /\.(ts|tsx|mjs|js|sql|sh|css)$/.test(path));
}

const skips =
  /\b(test|it|describe)(\.\w+)*\.(skip|skipIf|runIf|todo|fails)\b|\.skip\(|\b(skip|todo|fails): true\b/;
const retries = /\bretry: *\d+ *([,}]|$)/;
/** Has samples of it. */
const excusedSamples = 'tools/test/source-files.unit.test.ts';
/**
 * What is not tested, or tested until it passes. `skipUnless` alone may skip, because in CI it fails; a retry turns a
 * promise that holds now and then into a green test.
 */
export function findExcuses(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path }) => path.endsWith('.test.ts') && path !== excusedSamples)
    .flatMap(({ path, text }) =>
      [...findLines(text, skips), ...findLines(text, retries)].map((line) => `${path}:${line}`),
    );
}

/** Where a program begins. Everything else gets its settings as arguments and ends by returning. */
const entryPoints = [
  /^apps\/server\/src\/main\.ts$/,
  /^apps\/cli\/src\/(main|command)/,
  // What stands at the beginning of the built file.
  /^apps\/cli\/build\/build-cli\.ts$/,
  /^packages\/sandbox\/src\/main\.ts$/,
  /^packages\/testkit\/src\/vitest-/,
  /^tools\//,
  /^vitest\.config\.ts$/,
  /^bench\//,
  /^e2e\//,
  /^examples\//,
  /\.test\.ts$/,
  /\/test\//,
];
const processAccess = /\bprocess\.(env|exit)\b|['"]node:process['"]/;
/** In the server nothing of `process` at all: signals, memory and the clock come in through main.ts as well. */
const anyProcessAccess = /\bprocess\.(?!nextTick\b)\w+|['"]node:process['"]/;

export function findProcessAccess(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path }) => path.endsWith('.ts') && !entryPoints.some((entryPoint) => entryPoint.test(path)))
    .flatMap(({ path, text }) => {
      const forbidden = path.startsWith('apps/server/') ? anyProcessAccess : processAccess;
      return findLines(text, forbidden).map((line) => `${path}:${line}`);
    });
}

/** Number and text of the lines that match, comments aside. */
function findLines(text: string, pattern: RegExp): string[] {
  return text
    .split('\n')
    .map((line, index) => ({ line: line.replace(/^\s*(\/\/|\/?\*).*/, ''), number: index + 1 }))
    .filter(({ line }) => pattern.test(line))
    .map(({ line, number }) => `${number}: ${line.trim()}`);
}
