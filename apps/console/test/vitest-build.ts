import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '..');

/**
 * Runs once before the tests with a browser: the server serves what is built. In a process of its own, because with the
 * tests' environment React would be built for development.
 */
export async function setup(): Promise<void> {
  const env = { ...process.env, NODE_ENV: 'production' };
  await run(resolve(root, 'node_modules/.bin/vite'), ['build', '--logLevel', 'warn'], { cwd: root, env });
}
