import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** Folders that a path in a page may be relative to: pages about the server omit apps/server/src. */
const beginnings = ['.', 'apps/server/src'];

/** References in a page that do not exist: targets of relative links, and paths or globs in code. */
export function findBrokenReferences(root: string, page: { path: string; text: string }): string[] {
  const here = dirname(page.path);
  const exists = (pattern: string, from: string) => globSync(pattern, { cwd: join(root, from) }).length > 0;
  const links = linksOf(page.text).filter((link) => !exists(link, here));
  // How-to pages name files that the reader will create; they have their own tests.
  const isHowTo = page.path.startsWith('docs/how-to/');
  const paths = (isHowTo ? [] : pathsOf(page.text)).filter(
    (path) => ![here, ...beginnings].some((from) => exists(path, from)),
  );
  return [...new Set([...links, ...paths])].map((reference) => `${page.path}: ${reference}`);
}

function linksOf(text: string): string[] {
  return Array.from(text.matchAll(/\]\(([^)\s]+)\)/g), ([, target = '']) =>
    target.replace(/#.*$/, ''),
  ).filter((target) => target !== '' && !/^[a-z]+:/.test(target));
}

/** Words in code with a slash that end like a file, or begin with a folder of our sources. */
function pathsOf(text: string): string[] {
  const code = Array.from(
    text.matchAll(/^```[^\n]*\n([\s\S]*?)^```|`([^`\n]+)`/gm),
    ([, block, inline]) => block ?? inline ?? '',
  );
  return (
    code
      .flatMap((one) => one.split(/[\s"'()]+/))
      .map((word) => word.replace(/^\.\//, '').replace(/[,:;]$/, ''))
      // Build results do not exist before the build.
      .filter((word) => !word.startsWith('dist/'))
      .filter((word) => /^[\w.*{},-]+(\/[\w.*{},-]+)+\/?$/.test(word))
      .filter(
        (word) =>
          /\.(ts|mjs|md|sql|ya?ml|conf|json)$/.test(word) ||
          /^(apps|packages|e2e|docs|tools|bench|deploy|\.ci)\//.test(word),
      )
  );
}

export async function readPages(root: string): Promise<{ path: string; text: string }[]> {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '*.md'];
  const { stdout } = await promisify(execFile)('git', args, { cwd: root });
  const paths = stdout.split('\0').filter(Boolean);
  return Promise.all(paths.map(async (path) => ({ path, text: await readFile(join(root, path), 'utf8') })));
}
