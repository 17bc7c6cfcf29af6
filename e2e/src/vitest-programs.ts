import { join } from 'node:path';
import { loadServerProgram } from '@earshot/engines';
import type { TestProject } from 'vitest/node';
import { bundle } from '../../apps/cli/build/bundle.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The server as one file. */
    serverScript: string;
  }
}

const server = join(import.meta.dirname, '../../apps/server');
/** As deep below `apps/server` as the file that looks for the migrations. */
const file = join(server, 'node_modules/.cache/server.mjs');

/**
 * Runs once before the tests that start the server as a process, hundreds of times in all: half of what a start takes is
 * finding and reading 900 files. The demo, and what the documentation tells people to run, start from the sources.
 */
export async function setup({ vitest }: TestProject): Promise<void> {
  if ('serverScript' in vitest.getProvidedContext()) return;
  await bundle(join(server, 'src/main.ts'), file);
  await loadServerProgram(file);
  vitest.provide('serverScript', file);
}
