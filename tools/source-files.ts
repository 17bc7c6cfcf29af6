import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface SourceFile {
  path: string;
  text: string;
}

const sources = /\.(ts|tsx|mjs|js|sql|sh|css)$/;
/** Sources, and the texts around them. */
const texts = /\.(ts|tsx|mjs|js|sql|sh|css|md|ya?ml|json|py)$|^dev$/;

/** All sources that git tracks or would add. */
export const readSourceFiles = (root: string): Promise<SourceFile[]> => readFiles(root, sources);

/** All sources, pages and configuration files that git tracks or would add. */
export const readTextFiles = (root: string): Promise<SourceFile[]> => readFiles(root, texts);

async function readFiles(root: string, names: RegExp): Promise<SourceFile[]> {
  const paths = (await listFiles(root, ['--cached', '--others'])).filter((path) => names.test(path));
  const files = await Promise.all(
    // A file may be deleted and not yet committed.
    paths.map(async (path) => ({ path, text: await readFile(join(root, path), 'utf8').catch(() => '') })),
  );
  if (files.length === 0) throw new Error(`git knows no sources in ${root}`);
  return files;
}

/** A pattern in .gitignore that is too wide keeps sources out of commits, and out of every tool that reads it. */
export async function findIgnoredSources(root: string): Promise<string[]> {
  const paths = await listFiles(root, ['--others', '--ignored', '--', 'packages', 'apps', 'e2e', 'tools']);
  return paths
    .filter((path) => sources.test(path) && !/(^|\/)(node_modules|dist)\//.test(path))
    .map((path) => `${path}: git ignores it`);
}

async function listFiles(root: string, args: string[]): Promise<string[]> {
  const { stdout } = await promisify(execFile)('git', ['ls-files', '-z', '--exclude-standard', ...args], {
    cwd: root,
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout.split('\0').filter(Boolean);
}

const skips =
  /\b(test|it|describe)(\.\w+)*\.(skip|skipIf|runIf|todo|fails)\b|\.skip\(|\b(skip|todo|fails): true\b/;
const retries = /\bretry: *\d+ *([,}]|$)/;
/** Contains samples of excused tests. */
const excusedSamples = 'tools/test/source-files.unit.test.ts';
/**
 * Finds tests that are skipped or retried. Only `skipUnless` may skip, because it fails in CI. A retry hides a promise
 * that holds only sometimes.
 */
export function findExcuses(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path }) => path.endsWith('.test.ts') && path !== excusedSamples)
    .flatMap(({ path, text }) =>
      [...findLines(text, skips), ...findLines(text, retries)].map((line) => `${path}:${line}`),
    );
}

/** The entry points of programs. All other code gets its settings as arguments and ends by returning. */
const entryPoints = [
  /^apps\/server\/src\/main\.ts$/,
  /^apps\/cli\/src\/(main|command)/,
  // The banner of the built file.
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
/** The server may not use `process` at all: main.ts also passes in signals, memory and the clock. */
const anyProcessAccess = /\bprocess\.(?!nextTick\b)\w+|['"]node:process['"]/;

export function findProcessAccess(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path }) => path.endsWith('.ts') && !entryPoints.some((entryPoint) => entryPoint.test(path)))
    .flatMap(({ path, text }) => {
      const forbidden = path.startsWith('apps/server/') ? anyProcessAccess : processAccess;
      return findLines(text, forbidden).map((line) => `${path}:${line}`);
    });
}

/** Line numbers and texts of matching lines, without comments. */
function findLines(text: string, pattern: RegExp): string[] {
  return text
    .split('\n')
    .map((line, index) => ({ line: line.replace(/^\s*(\/\/|\/?\*).*/, ''), number: index + 1 }))
    .filter(({ line }) => pattern.test(line))
    .map(({ line, number }) => `${number}: ${line.trim()}`);
}
