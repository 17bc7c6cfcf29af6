import { createTemplate } from '@earshot/testkit';
import type { TestProject } from 'vitest/node';
import { fillTemplate } from './support.ts';

/** Runs once before the tests of a project: the database that they take copies of. It goes with the PostgreSQL. */
export async function setup(project: TestProject): Promise<void> {
  const { postgresUrls } = project.getProvidedContext();
  const template = await createTemplate({ postgresUrls, migrate: fillTemplate });
  project.provide('migratedTemplate', template.name);
}
