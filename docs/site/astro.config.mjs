// @ts-check
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import starlight from '@astrojs/starlight';
import { defineConfig } from 'astro/config';
import starlightOpenAPI, { createOpenAPISidebarGroup } from 'starlight-openapi';
import { openApiDocument } from '../../packages/contract/src/index.ts';
import { finishSite } from '../../tools/docs-site/finish.ts';
import { readSite, sidebarOf } from '../../tools/docs-site/site.ts';

const openApi = openApiDocument();
mkdirSync(new URL('.astro/', import.meta.url), { recursive: true });
writeFileSync(new URL('.astro/openapi.json', import.meta.url), JSON.stringify(openApi));

const api = createOpenAPISidebarGroup();
const sidebar = sidebarOf(readSite().pages).map((section) =>
  'items' in section && section.label === 'Reference' ? { ...section, items: [api, ...section.items] } : section,
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
  integrations: [
    starlight({
      title: 'Earshot',
      sidebar,
      plugins: [
        starlightOpenAPI([
          {
            base: 'api',
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
