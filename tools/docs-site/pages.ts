import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Group, groupOf, groups, placeIn } from './navigation.ts';

export interface Page {
  /** The path in the repository. */
  readonly path: string;
  /** The path in the site: `webhooks` is at `/webhooks/`, and README.md of the repository, `index`, at `/`. */
  readonly id: string;
  readonly title: string;
  /** The first paragraph as plain text, for search engines and previews of links. */
  readonly description: string;
  /** The source without its title, which the site adds. */
  readonly body: string;
  readonly source: string;
  readonly group: Group;
}

/** All of docs/, and the pages beside it that docs/ links to. */
const patterns = [
  'docs/**/*.md',
  '*.md',
  'packages/{sdk,query,sandbox,n8n-nodes-earshot}/README.md',
  'sdks/python/README.md',
  'skills/*/SKILL.md',
];

export function readPages(root: string): Page[] {
  return findPaths(root)
    .map((path) => {
      const group = groupOf(path);
      if (group === undefined) throw new Error(`${path} is in no group of tools/docs-site/navigation.ts`);
      return readPage(path, readFileSync(join(root, path), 'utf8'), group);
    })
    .toSorted((a, b) => orderOf(a) - orderOf(b) || a.path.localeCompare(b.path));
}

export function findPaths(root: string): string[] {
  return globSync([...patterns], { cwd: root, exclude: ['**/node_modules', 'docs/site'] }).toSorted();
}

function orderOf({ group, path }: Page): number {
  return groups.indexOf(group) * 1_000 + placeIn(group, path);
}

function readPage(path: string, source: string, group: Group): Page {
  const withoutFront = source.replace(/^---\n.*?\n---\n/s, '');
  const [heading, title] = /^# (.+)\n/m.exec(withoutFront) ?? [];
  if (heading === undefined || title === undefined) throw new Error(`${path} has no title: a line "# …"`);
  const body = withoutFront.replace(heading, '');
  const description = descriptionOf(body);
  return { path, id: idOf(path), title: title.replaceAll('`', ''), description, body, source, group };
}

const descriptionLengthMax = 200;

/** Without tables, lists, code and pictures. A page that has nothing else has no description. */
function descriptionOf(body: string): string {
  const paragraphs = body.replaceAll(/^```[\s\S]*?^```/gm, '').split(/\n\s*\n/);
  const paragraph = paragraphs.find((text) => /^\s*[*[`]*\p{L}/u.test(text) && !/^\s*[*] /.test(text)) ?? '';
  const text = paragraph
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[*`]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return text.length <= descriptionLengthMax
    ? text
    : `${text.slice(0, text.lastIndexOf(' ', descriptionLengthMax))} …`;
}

function idOf(path: string): string {
  const inSite = twinOf(path).toLowerCase();
  if (inSite === 'readme.md') return 'index';
  return inSite.replace(/\/(readme|skill)\.md$/, '').replace(/\.md$/, '');
}

/** The path of a page's Markdown in the site. It is the same as in the repository, so that relative links work. */
export function twinOf(path: string): string {
  return path.replace(/^docs\//, '');
}

/** Files besides pages that pages may show or link to. */
export function findAssets(root: string): string[] {
  return globSync('docs/**/*.{json,png,svg,webp}', { cwd: root, exclude: ['docs/site'] }).filter(
    (path) => basename(path) !== 'package.json',
  );
}
