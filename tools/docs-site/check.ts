import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Site } from './links.ts';
import { twinOf } from './pages.ts';

/** The problems of a built site. */
export function findProblems(site: Site, dist: string): string[] {
  const built = readBuilt(dist);
  return [
    ...findMissing(site, dist),
    ...findBrokenLinks(built, site.base, dist),
    ...findForeignRequests(dist),
  ];
}

type Built = ReadonlyMap<string, { readonly html: string; readonly ids: ReadonlySet<string> }>;

function readBuilt(dist: string): Built {
  return new Map(
    globSync('**/*.html', { cwd: dist }).map((path) => {
      const html = readFileSync(join(dist, path), 'utf8');
      return [
        path,
        { html, ids: new Set(Array.from(html.matchAll(/\sid="([^"]*)"/g), ([, id = '']) => id)) },
      ];
    }),
  );
}

function findMissing({ pages, root, base }: Site, dist: string): string[] {
  const read = (path: string) => (existsSync(join(dist, path)) ? readFileSync(join(dist, path), 'utf8') : '');
  const listed = new Set(
    Array.from(read('llms.txt').matchAll(/\]\(([^)]+)\)/g), ([, target = '']) => target),
  );
  const entry = read('pagefind/pagefind-entry.json');
  const indexed = entry === '' ? 0 : JSON.parse(entry).languages?.en?.page_count;
  return [
    ...pages.flatMap(({ path, id }) => [
      ...(read(id === 'index' ? 'index.html' : `${id}/index.html`) === ''
        ? [`${path} is not in the site`]
        : []),
      ...(read(twinOf(path)) === readFileSync(join(root, path), 'utf8') ? [] : [`${path} has no equal twin`]),
      ...(listed.has(base + twinOf(path)) ? [] : [`${path} is not in llms.txt`]),
    ]),
    ...(indexed >= pages.length ? [] : [`the search index has ${indexed} pages of ${pages.length}`]),
  ];
}

/** Links within the site whose page or anchor does not exist, and pictures that do not exist. */
function findBrokenLinks(built: Built, base: string, dist: string): string[] {
  return [...built].flatMap(([from, { html }]) => {
    const page = new URL(from.replace(/index\.html$/, ''), `http://site.invalid${base}`);
    const isBroken = (target: string) => !isReachable(new URL(target.replaceAll('&amp;', '&'), page));
    const targets = Array.from(html.matchAll(/<a\s[^>]*?href="([^"]*)"/g), ([, target = '']) => target);
    const pictures = Array.from(html.matchAll(/<img\s(?:[^>]*?\s)?src="([^"]*)"/g), ([, src = '']) => src);
    return [
      ...[...new Set(targets)].filter(isBroken).map((target) => `${from}: the link ${target} leads nowhere`),
      ...pictures.filter(isBroken).map((src) => `${from}: the picture ${src} does not exist`),
      ...(pictures.length === html.split('<img ').length - 1 ? [] : [`${from}: a picture has no address`]),
    ];
  });

  function isReachable({ hostname, pathname, hash }: URL): boolean {
    if (hostname !== 'site.invalid') return true;
    if (!pathname.startsWith(base)) return false;
    const path = decodeURI(pathname.slice(base.length));
    const found = built.get(path === '' || path.endsWith('/') ? `${path}index.html` : path);
    if (found === undefined) return path !== '' && !path.endsWith('/') && existsSync(join(dist, path));
    return hash === '' || found.ids.has(decodeURIComponent(hash.slice(1)));
  }
}

/** What a browser would request from other hosts to show a page. */
function findForeignRequests(dist: string): string[] {
  const elsewhere = [
    /<(?:script|img|iframe|source|video|audio|embed|object)\s[^>]*?(?:src|srcset|data)="((?:https?:)?\/\/[^"]*)"/g,
    /<link\s(?![^>]*rel="(?:canonical|alternate)")[^>]*?href="((?:https?:)?\/\/[^"]*)"/g,
    /(?:url\(|@import )["']?((?:https?:)?\/\/[^"')]*)/g,
  ];
  return globSync('**/*.{html,css}', { cwd: dist }).flatMap((path) => {
    const text = readFileSync(join(dist, path), 'utf8');
    const found = elsewhere.flatMap((pattern) => Array.from(text.matchAll(pattern), ([, url = '']) => url));
    return [...new Set(found)].map((url) => `${path} loads ${url}`);
  });
}
