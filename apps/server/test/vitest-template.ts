import { createTemplate } from '@earshot/testkit';
import type { TestProject } from 'vitest/node';
import { fillTemplate } from './support.ts';

/** Before the tests of the first project that needs it: creates the database that all tests copy. It is dropped with the PostgreSQL. */
export async function setup({ vitest }: TestProject): Promise<void> {
  const { postgresUrls, ...others } = vitest.getProvidedContext();
  if ('migratedTemplate' in others) return;
  const template = await createTemplate({ postgresUrls, migrate: fillTemplate });
  vitest.provide('migratedTemplate', template.name);
}
