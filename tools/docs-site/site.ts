import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { linkPage, type Site } from './links.ts';
import { labels, sections } from './navigation.ts';
import { findAssets, type Page, readPages } from './pages.ts';

export function readSite(base = '/'): Site {
  const root = resolve(import.meta.dirname, '../..');
  return {
    root,
    pages: readPages(root),
    assets: findAssets(root),
    base: base.endsWith('/') ? base : `${base}/`,
    repository: repositoryOf(readFileSync(join(root, 'package.json'), 'utf8')),
  };
}

export function repositoryOf(manifest: string): string | undefined {
  const { repository } = JSON.parse(manifest);
  const url: unknown = typeof repository === 'object' ? repository.url : repository;
  if (typeof url !== 'string') return undefined;
  return `${url.replace(/^git\+/, '').replace(/\.git$/, '')}/blob/main`;
}

interface SidebarLink {
  label?: string;
  slug: string;
}

interface SidebarGroup {
  label: string;
  collapsed: boolean;
  items: (SidebarGroup | SidebarLink)[];
}

/** With the others collapsed, a screen shows all sections. */
const openSections = new Set<string>(['Start', 'Guides']);

/** The sections with their pages. A section with one page is a link to it. */
export function sidebarOf(pages: readonly Page[]): (SidebarGroup | SidebarLink)[] {
  return sections.map((section) => {
    const own = pages.filter(({ group }) => group.section === section);
    const [first] = own;
    if (own.length === 1 && first !== undefined) return { label: section, ...linkTo(first) };
    const parts = Map.groupBy(own, ({ group }) => group.name);
    const items = [...parts].flatMap(([label, some]): SidebarGroup['items'] =>
      label === undefined ? some.map(linkTo) : [{ label, collapsed: true, items: some.map(linkTo) }],
    );
    return { label: section, collapsed: !openSections.has(section), items };
  });
}

function linkTo({ id, path }: Page): SidebarLink {
  const label = labels[path];
  return { slug: id === 'index' ? '' : id, ...(label !== undefined && { label }) };
}

/** The part of Astro's loader context that the loader uses. */
interface LoaderContext {
  readonly config: { readonly base: string };
  readonly store: { clear(): void; set(entry: object): unknown };
  readonly parseData: (page: { id: string; data: object }) => Promise<Record<string, unknown>>;
  readonly renderMarkdown: (body: string) => Promise<{ html: string }>;
}

/** Loads the pages from their places in the repository, so that no copies are needed. */
export function createLoader() {
  return {
    name: 'earshot-docs',
    async load({ config, store, parseData, renderMarkdown }: LoaderContext): Promise<void> {
      const site = readSite(config.base);
      store.clear();
      for (const page of site.pages) {
        const data = await parseData({ id: page.id, data: dataOf(page) });
        const rendered = await renderMarkdown(page.body);
        const html = breakNames(linkPage(rendered.html, page, site));
        store.set({ id: page.id, data, body: page.body, rendered: { ...rendered, html } });
      }
    },
  };
}

/** Lets a narrow screen break long names in tables between their words: `EARSHOT_<wbr>DATABASE_<wbr>URL`. */
export function breakNames(html: string): string {
  return html.replaceAll(/<td[^>]*>.*?<\/td>/gs, (cell) =>
    cell.replaceAll(
      /<code>([^<]*)<\/code>/g,
      (_all, text: string) => `<code>${text.replaceAll(/(?<=\w)[_/,=](?=\w)/g, '$&<wbr>')}</code>`,
    ),
  );
}

function dataOf({ id, title, description }: Page): object {
  // Otherwise the title in the browser would be "Earshot | Earshot".
  const head =
    id === 'index' ? [{ tag: 'title', content: `${title}: live events for agents and programs` }] : [];
  return { title, ...(description !== '' && { description }), head };
}
