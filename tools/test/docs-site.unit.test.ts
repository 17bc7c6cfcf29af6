import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findProblems } from '../docs-site/check.ts';
import { addressOf, linkPage, type Site } from '../docs-site/links.ts';
import { groupOf, groups, labels, sections } from '../docs-site/navigation.ts';
import { findPaths, readPages } from '../docs-site/pages.ts';
import { breakNames, readSite, repositoryOf, sidebarOf } from '../docs-site/site.ts';

const root = join(import.meta.dirname, '../..');

describe('pages of the site', () => {
  test('are all of docs/, each with a section and a title', () => {
    const inDocs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.md') && !path.startsWith('site/'))
      .map((path) => `docs/${path}`);
    const { pages } = readSite();
    const paths = pages.map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining(inDocs));
    expect(new Set(pages.map(({ id }) => id)).size).toBe(pages.length);
    expect(pages.filter(({ title, group }) => title === '' || !sections.includes(group.section))).toEqual([]);
    expect(findPaths(root).toSorted()).toEqual(paths.toSorted());
  });

  test('are described by their first paragraph as plain text', () => {
    const { pages } = readSite();
    const described = pages.filter(({ description }) => description !== '');
    expect(described.length).toBeGreaterThan(pages.length * 0.9);
    expect(
      described.filter(({ description }) => /[*`|\]]|\s$/.test(description) || description.length > 202),
    ).toEqual([]);
    expect(pages.find(({ id }) => id === 'index')?.description).toMatch(
      /^Earshot notifies agents and programs/,
    );
  });

  test('are each in the navigation once', () => {
    const { pages } = readSite();
    const slugs = JSON.stringify(sidebarOf(pages)).match(/"slug":"[^"]*"/g) ?? [];
    expect(slugs.toSorted()).toEqual(
      pages.map(({ id }) => `"slug":"${id === 'index' ? '' : id}"`).toSorted(),
    );
  });

  test('a section with one page is a link, and only Start and Guides are open', () => {
    const sidebar = sidebarOf(readSite().pages);
    expect(sidebar.map(({ label }) => label)).toEqual(sections);
    expect(sidebar.filter((entry) => 'slug' in entry)).toEqual([
      { label: 'Concepts', slug: 'concepts' },
      { label: 'Cookbook', slug: 'cookbook' },
      { label: 'Troubleshooting', slug: 'troubleshooting' },
    ]);
    const open = sidebar.filter((entry) => 'items' in entry && !entry.collapsed);
    expect(open.map(({ label }) => label)).toEqual(['Start', 'Guides']);
  });

  test('a group that names a page has precedence over a pattern, and a pattern covers one folder', () => {
    expect(groupOf('docs/operations/metrics.md')?.section).toBe('Reference');
    expect(groupOf('docs/operations/something-new.md')?.name).toBe('Alerts');
    expect(groupOf('docs/operations/deeper/page.md')).toBeUndefined();
  });

  test('the group Alerts has the pages that alerts link to', () => {
    const alerts = readFileSync(join(root, 'deploy/alerts.yaml'), 'utf8');
    const linked = new Set(alerts.match(/docs\/operations\/[\w-]+\.md/g));
    const listed = readSite().pages.filter(({ group }) => group.name === 'Alerts');
    expect(new Set(listed.map(({ path }) => path))).toEqual(linked);
  });

  test('a page without a group is refused', () => {
    const dir = mkdtempSync(join(tmpdir(), 'earshot-docs-'));
    try {
      write(dir, { 'docs/webhooks.md': '# Webhooks\n' });
      expect(readPages(dir).map(({ id }) => id)).toEqual(['webhooks']);
      write(dir, { 'docs/forgotten.md': '# Forgotten\n' });
      expect(() => readPages(dir)).toThrow('docs/forgotten.md is in no group');
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  test('groups and labels name only pages that exist', () => {
    const paths = findPaths(root);
    const exact = [...groups.flatMap((group) => group.paths), ...Object.keys(labels)].filter(
      (path) => !path.includes('*'),
    );
    expect(exact.filter((path) => !paths.includes(path))).toEqual([]);
  });
});

function write(dir: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
}

test('long names in tables can break between their words', () => {
  const paragraph = '<p><code>EARSHOT_X_TOKENS</code></p>';
  const table = '<td><code>EARSHOT_X_TOKENS</code> a_b</td><td><code>_FILE</code></td>';
  expect(breakNames(paragraph + table)).toBe(
    paragraph + table.replace('EARSHOT_X_TOKENS', 'EARSHOT_<wbr>X_<wbr>TOKENS'),
  );
});

describe('links', () => {
  const site = { ...readSite('/base'), repository: 'https://git.example/blob/main' };
  const page = site.pages.find(({ path }) => path === 'docs/mcp.md');
  const address = (target: string) => (page === undefined ? '' : addressOf(target, page, site));

  test.each([
    ['webhooks.md', '/base/webhooks/'],
    ['webhooks.md#order', '/base/webhooks/#order'],
    ['operations/README.md', '/base/operations/'],
    ['operations', '/base/operations/'],
    ['../README.md', '/base/'],
    ['../packages/sdk/README.md', '/base/packages/sdk/'],
    ['rules.schema.json', '/base/rules.schema.json'],
    ['../deploy/alerts.yaml', 'https://git.example/blob/main/deploy/alerts.yaml'],
    ['https://elsewhere.example/page', 'https://elsewhere.example/page'],
    ['#connect', '#connect'],
  ])('a link to %s leads to %s', (target, expected) => {
    expect(address(target)).toBe(expected);
  });

  test('a link to a missing file is refused', () => {
    expect(() => address('../deploy/nothing.yaml')).toThrow('docs/mcp.md links to ../deploy/nothing.yaml');
  });

  test('a link to a repository file becomes plain text if the repository has no address', () => {
    const html = '<p><a href="../deploy/alerts.yaml"><code>alerts</code></a> <a href="cli.md">b</a></p>';
    if (page === undefined) throw new Error('docs/mcp.md is gone');
    expect(linkPage(html, page, { ...site, repository: undefined })).toBe(
      '<p><code>alerts</code> <a href="/base/cli/">b</a></p>',
    );
  });

  test('both pictures of a page in two themes lead into the site', () => {
    const html =
      '<source media="dark" srcset="images/console-feed-dark.webp"> <img alt="a" src="images/console-feed-light.webp">';
    if (page === undefined) throw new Error('docs/mcp.md is gone');
    expect(linkPage(html, page, site)).toBe(html.replaceAll('images/', '/base/images/'));
  });

  test('a picture gets its address and its description', () => {
    const placeholder =
      '{&quot;alt&quot;:&quot;A \\&quot;rule\\&quot; &amp; its match&quot;,&quot;src&quot;:&quot;images/concepts.svg&quot;}';
    if (page === undefined) throw new Error('docs/mcp.md is gone');
    expect(linkPage(`<p><img __ASTRO_IMAGE_="${placeholder}"></p>`, page, site)).toBe(
      '<p><img src="/base/images/concepts.svg" alt="A &quot;rule&quot; &amp; its match"></p>',
    );
  });

  test('a link to the repository begins with the address in package.json', () => {
    expect(repositoryOf('{"repository":{"url":"git+https://git.example/a/b.git"}}')).toBe(
      'https://git.example/a/b/blob/main',
    );
    expect(repositoryOf('{}')).toBeUndefined();
  });
});

describe('a built site', () => {
  let dir: string;
  let site: Site;
  const good = {
    'source/docs/webhooks.md': '# Webhooks\n',
    'dist/webhooks/index.html':
      '<h1>Webhooks</h1><h2 id="order">Order</h2><a href="/webhooks/#order">here</a>',
    'dist/webhooks.md': '# Webhooks\n',
    'dist/llms.txt': '- [Webhooks](/webhooks.md)',
    'dist/pagefind/pagefind-entry.json': '{"languages":{"en":{"page_count":1}}}',
  };

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'earshot-docs-'));
    write(dir, good);
    const source = join(dir, 'source');
    site = { root: source, pages: readPages(source), assets: [], base: '/', repository: undefined };
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  test('a complete site has no problems', () => {
    expect(findProblems(site, join(dir, 'dist'))).toEqual([]);
  });

  const page = 'dist/webhooks/index.html';
  const title = '<h1>Webhooks</h1>';
  test.each([
    ['a link to no page', { [page]: title + '<a href="/gone/">x</a>' }, `the link /gone/ leads nowhere`],
    [
      'a link to no place on a page',
      { [page]: title + '<a href="/webhooks/#gone">x</a>' },
      '#gone leads nowhere',
    ],
    [
      'a relative link to no page',
      { [page]: title + '<a class="b" href="../gone.md">x</a>' },
      'leads nowhere',
    ],
    [
      'a picture without an address',
      { [page]: `${title}<img __ASTRO_IMAGE_="{}">` },
      'a picture has no address',
    ],
    [
      'a picture that is missing',
      { [page]: `${title}<img alt="x" src="/gone.svg">` },
      'the picture /gone.svg',
    ],
    ['no picture for a theme', { [page]: `${title}<source srcset="/gone.webp">` }, 'the picture /gone.webp'],
    ['a page that is missing', { [page]: '' }, 'docs/webhooks.md is not in the site'],
    ['another page in its place', { [page]: '<h1>Overview</h1>' }, 'docs/webhooks.md is not in the site'],
    ['a twin that differs', { 'dist/webhooks.md': '# Webhook\n' }, 'has no equal twin'],
    ['a page that llms.txt leaves out', { 'dist/llms.txt': '# Earshot' }, 'is not in llms.txt'],
    [
      'a search index without the page',
      { 'dist/pagefind/pagefind-entry.json': '{"languages":{"en":{"page_count":0}}}' },
      'the search index has 0 pages of 1',
    ],
    ['no search index', { 'dist/pagefind/pagefind-entry.json': '' }, 'the search index has 0 pages'],
    [
      'a script from elsewhere',
      { [page]: title + '<script src="//cdn.example/a.js"></script>' },
      'cdn.example',
    ],
    ['a font from elsewhere', { 'dist/a.css': 'src: url("https://f.example/b")' }, 'f.example'],
    [
      'a style from elsewhere',
      { [page]: title + '<link rel="stylesheet" href="https://s.example/">' },
      's.example',
    ],
  ])('with %s is refused', (_what, change, problem) => {
    write(dir, change);
    expect(findProblems(site, join(dir, 'dist'))).toEqual([expect.stringContaining(problem)]);
  });
});
