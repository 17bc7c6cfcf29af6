// @ts-check
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { satteri } from '@astrojs/markdown-satteri';
import starlight from '@astrojs/starlight';
import { defineConfig } from 'astro/config';
import starlightOpenAPI, { createOpenAPISidebarGroup } from 'starlight-openapi';
import { openApiDocument } from '../../packages/contract/src/index.ts';
import { finishSite } from '../../tools/docs-site/finish.ts';
import { readSite, sidebarOf } from '../../tools/docs-site/site.ts';

// The address of the demo, in the examples.
const openApi = openApiDocument({ baseUrl: 'http://127.0.0.1:8080' });
mkdirSync(new URL('.astro/', import.meta.url), { recursive: true });
writeFileSync(new URL('.astro/openapi.json', import.meta.url), JSON.stringify(openApi));

const api = createOpenAPISidebarGroup();
const sidebar = sidebarOf(readSite().pages).map((section) =>
  'items' in section && section.label === 'Reference'
    ? { ...section, items: [api, ...section.items] }
    : section,
);

/** @type {import('astro').AstroIntegration} */
const finish = {
  name: 'earshot-finish',
  hooks: {
    'astro:build:done': ({ dir }) => finishSite(readSite(process.env.DOCS_BASE), fileURLToPath(dir), openApi),
  },
};

/** @public Astro reads it. */
export default defineConfig({
  base: process.env.DOCS_BASE ?? '/',
  // Has the icon of the console.
  publicDir: '../../apps/console/public',
  // Otherwise `--json` in a sentence would become `–json`.
  markdown: { processor: satteri({ features: { smartPunctuation: { dashes: false } } }) },
  integrations: [
    starlight({
      title: 'Earshot',
      favicon: '/assets/icon.svg',
      customCss: ['./src/site.css'],
      sidebar,
      // The navigation is longer than the screen.
      head: [
        {
          tag: 'script',
          content:
            "addEventListener('DOMContentLoaded', () => document.querySelector('.sidebar-content [aria-current=page]')?.scrollIntoView({ block: 'nearest' }))",
        },
      ],
      plugins: [
        starlightOpenAPI([
          {
            // Not `api`, where docs/api.md is.
            base: 'reference',
            schema: '.astro/openapi.json',
            sidebar: { group: api, label: 'API', operations: { labels: 'operationId' } },
          },
        ]),
      ],
    }),
    // After Starlight, whose search index it looks for.
    finish,
  ],
});
