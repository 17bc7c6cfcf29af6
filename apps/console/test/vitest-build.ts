import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '..');

/**
 * Builds the console once before the browser tests. Runs in a separate process, because the environment of the tests would
 * select the development build of React.
 */
export async function setup(): Promise<void> {
  const env = { ...process.env, NODE_ENV: 'production' };
  await run(resolve(root, 'node_modules/.bin/vite'), ['build', '--logLevel', 'warn'], { cwd: root, env });
}
