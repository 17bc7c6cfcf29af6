import { defineCollection } from 'astro:content';
import { docsSchema } from '@astrojs/starlight/schema';
import { createLoader } from '../../../tools/docs-site/site.ts';

/** @public Astro reads it. */
export const collections = { docs: defineCollection({ loader: createLoader(), schema: docsSchema() }) };
