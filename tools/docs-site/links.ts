import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { type Page, twinOf } from './pages.ts';

export interface Site {
  readonly root: string;
  readonly pages: readonly Page[];
  readonly assets: readonly string[];
  /** The prefix of every address of the site: '/', or '/earshot/'. */
  readonly base: string;
  /** The base URL of repository files that are not pages, for example https://git.example/earshot/blob/main. */
  readonly repository: string | undefined;
}

/**
 * Rewrites the links and pictures of a rendered page to their addresses in the site. Astro leaves a placeholder for each
 * picture, because it would import the file.
 */
export function linkPage(html: string, page: Page, site: Site): string {
  return html
    .replace(
      /<a href="([^"]*)"([^>]*)>([\s\S]*?)<\/a>/g,
      (_all, target: string, rest: string, text: string) => {
        const address = addressOf(target, page, site);
        return address === undefined ? text : `<a href="${address}"${rest}>${text}</a>`;
      },
    )
    .replace(/<img __ASTRO_IMAGE_="([^"]*)">/g, (_all, escaped: string) => {
      const { src, alt } = JSON.parse(unescape(escaped));
      return `<img src="${addressOf(src, page, site) ?? src}" alt="${escape(alt)}">`;
    });
}

const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#x27;' };

function escape(text: string): string {
  return Object.entries(entities).reduce((all, [char, entity]) => all.replaceAll(char, entity), text);
}

function unescape(html: string): string {
  return Object.entries(entities).reduceRight((all, [char, entity]) => all.replaceAll(entity, char), html);
}

/** Undefined for a repository file if the repository has no public address. */
export function addressOf(target: string, page: Page, site: Site): string | undefined {
  if (/^([a-z]+:|#|\/)/.test(target)) return target;
  const [path = '', anchor] = target.split('#');
  const file = normalize(join(dirname(page.path), decodeURI(path))).replace(/\/$/, '');
  const end = anchor === undefined ? '' : `#${anchor}`;
  const found = site.pages.find((one) => [file, `${file}/README.md`].includes(one.path));
  if (found !== undefined) return `${site.base}${found.id === 'index' ? '' : `${found.id}/`}${end}`;
  if (site.assets.includes(file)) return `${site.base}${twinOf(file)}`;
  if (!existsSync(join(site.root, file)))
    throw new Error(`${page.path} links to ${target}, which does not exist`);
  return site.repository === undefined ? undefined : `${site.repository}/${file}${end}`;
}
