import { dirname, join, normalize } from 'node:path';
import type { SourceFile } from './source-files.ts';

const root = 'apps/server/src/';
const shareMax = 0.15;

/** Problems in the layout of the server, and timers anywhere. ARCHITECTURE.md explains each of them. */
export function findStructureProblems(sources: readonly SourceFile[]): string[] {
  const files = sources
    .filter(({ path, text }) => path.startsWith(root) && path.endsWith('.ts') && text !== '')
    .filter(({ path }) => !path.endsWith('.test.ts'))
    .map(({ path, text }) => ({ path: path.slice(root.length), text }));
  if (files.length === 0) throw new Error(`there are no sources below ${root}`);
  return [
    ...findLargeFolders(files),
    ...findFolderCycles(files),
    ...findPlatformNames(files),
    ...findTimers(sources),
  ];
}

/** `repeat` and `every`, and timers whose work is synchronous: they draw, or are the sandbox's clock. */
const filesWithTimers: ReadonlySet<string> = new Set([
  'apps/server/src/runtime/worker.ts',
  'apps/cli/src/output/create-screen.ts',
  'apps/console/src/screens/feed/live-matches.ts',
  'apps/console/src/screens/feed/use-feed.ts',
  'packages/sandbox/src/clock.ts',
  'packages/sandbox/src/feed/feed.ts',
]);

/** The steps of a plain timer overlap when they are slow, and an older write may then replace a newer one. */
function findTimers(sources: readonly SourceFile[]): string[] {
  return sources
    .filter(({ path }) => /^(apps|packages)\/[^/]+\/src\//.test(path) && !filesWithTimers.has(path))
    .filter(({ path, text }) => !/\.test\.tsx?$/.test(path) && /\bsetInterval\(/.test(text))
    .map(({ path }) => `${path} uses setInterval: use repeat() or every() of runtime/worker.ts`);
}

function findLargeFolders(files: readonly SourceFile[]): string[] {
  const lines = ({ text }: SourceFile) => text.split('\n').length - 1;
  const sum = (some: readonly SourceFile[]) => some.reduce((total, file) => total + lines(file), 0);
  const all = sum(files);
  return [...Map.groupBy(files, folderOf)]
    .map(([folder, own]) => ({ folder, share: sum(own) / all }))
    .filter(({ folder, share }) => folder !== '' && share > shareMax)
    .map(({ folder, share }) => `${folder}/ holds ${(100 * share).toFixed(1)} % of the server's lines`);
}

/** The folder below the root: a feature or a layer; '' for files at the root. */
function folderOf({ path }: Pick<SourceFile, 'path'>): string {
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : '';
}

/** Two folders that import each other, directly or through others, are one folder with two names. */
function findFolderCycles(files: readonly SourceFile[]): string[] {
  const examples = new Map<string, Map<string, string>>();
  for (const { path, text } of files) {
    const from = folderOf({ path });
    for (const [, spec = ''] of text.matchAll(/(?:from|import)\s+'(\.[^']+)'/g)) {
      const target = normalize(join(dirname(path), spec));
      const to = folderOf({ path: target });
      if (from === '' || to === '' || from === to) continue;
      const known = examples.get(from) ?? new Map<string, string>();
      examples.set(from, known.set(to, known.get(to) ?? `${path} → ${target}`));
    }
  }
  const reaches = (from: string, to: string, seen = new Set<string>()): boolean =>
    [...(examples.get(from)?.keys() ?? [])].some((next) => {
      if (next === to) return true;
      if (seen.has(next)) return false;
      seen.add(next);
      return reaches(next, to, seen);
    });
  return [...examples].flatMap(([from, targets]) =>
    [...targets]
      .filter(([to]) => reaches(to, from))
      .map(([to, example]) => `${from}/ and ${to}/ are in a circle of folders: ${example}`),
  );
}

/** Differences between platforms belong in their descriptors, so that a third platform changes no feature. */
function findPlatformNames(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path }) => !path.startsWith('upstream/'))
    .flatMap(({ path, text }) =>
      text
        .split('\n')
        .map((line, index) => ({ line: line.replace(/^\s*(\/\/|\/?\*).*/, ''), number: index + 1 }))
        .filter(({ line }) => /'(x|firehose)'|\.(x|firehose)\b(?!\.com)/.test(line))
        .map(({ line, number }) => `${path}:${number} names a platform: ${line.trim()}`),
    );
}
