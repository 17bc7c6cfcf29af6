import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { type Page, twinOf } from './pages.ts';

export interface Site {
  readonly root: string;
  readonly pages: readonly Page[];
  readonly assets: readonly string[];
  /** What every address of the site begins with: '/', or '/earshot/'. */
  readonly base: string;
  /** Where files that are no pages can be read, for example https://git.example/earshot/blob/main. */
  readonly repository: string | undefined;
}

/** The links and pictures of a rendered page, with the addresses they have in the site. */
export function linkPage(html: string, page: Page, site: Site): string {
  return html
    .replace(
      /<a href="([^"]*)"([^>]*)>([\s\S]*?)<\/a>/g,
      (_all, target: string, rest: string, text: string) => {
        const address = addressOf(target, page, site);
        return address === undefined ? text : `<a href="${address}"${rest}>${text}</a>`;
      },
    )
    .replace(/(<img [^>]*?src=")([^"]*)"/g, (_all, before: string, target: string) => {
      return `${before}${addressOf(target, page, site) ?? target}"`;
    });
}

/** Nothing for a file of the repository when nobody can be sent there. */
export function addressOf(target: string, page: Page, site: Site): string | undefined {
  if (/^([a-z]+:|#|\/)/.test(target)) return target;
  const [path = '', anchor] = target.split('#');
  const file = normalize(join(dirname(page.path), decodeURI(path))).replace(/\/$/, '');
  const end = anchor === undefined ? '' : `#${anchor}`;
  const found = site.pages.find((one) => [file, `${file}/README.md`].includes(one.path));
  if (found !== undefined) return `${site.base}${found.id === 'index' ? '' : `${found.id}/`}${end}`;
  if (site.assets.includes(file)) return `${site.base}${twinOf(file)}`;
  if (!existsSync(join(site.root, file)))
    throw new Error(`${page.path} links to ${target}, which is not there`);
  return site.repository === undefined ? undefined : `${site.repository}/${file}${end}`;
}
