import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findProblems } from './check.ts';
import type { Site } from './links.ts';
import { sections } from './navigation.ts';
import { twinOf } from './pages.ts';

/** Adds to the built site what Astro does not generate, and refuses an incomplete site. */
export function finishSite(site: Site, dist: string, openApi: object): void {
  for (const path of [...site.pages.map((page) => page.path), ...site.assets]) {
    const target = join(dist, twinOf(path));
    mkdirSync(dirname(target), { recursive: true });
    cpSync(join(site.root, path), target);
  }
  writeFileSync(join(dist, 'openapi.json'), `${JSON.stringify(openApi, undefined, 2)}\n`);
  writeFileSync(join(dist, 'llms.txt'), llmsText(site));
  const problems = findProblems(site, dist);
  if (problems.length > 0) throw new Error(`The site is incomplete:\n${problems.join('\n')}`);
}

/** The index of all pages, for models: https://llmstxt.org. */
function llmsText({ pages, base }: Site): string {
  const lists = sections.map((section) => {
    const own = pages.filter(({ group }) => group.section === section);
    const lines = own.map(({ title, path }) => `- [${title}](${base}${twinOf(path)})`);
    if (section === 'Reference') lines.unshift(`- [The API, as OpenAPI](${base}openapi.json)`);
    return `## ${section}\n\n${lines.join('\n')}\n`;
  });
  return [
    '# Earshot\n',
    '> Live event monitoring for agents and programs, self-hosted: rules in, matches of X and Firehose out.\n',
    ...lists,
  ].join('\n');
}
