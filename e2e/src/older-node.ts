import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repository } from './demo-process.ts';

/** The folder of a `node` of that major version; installed into `.tools` with npm if it is missing. */
export async function nodeBin(major: 20 | 22): Promise<string> {
  const prefix = join(repository, `.tools/node-${major}`);
  const bin = join(prefix, 'node_modules/.bin');
  if (!existsSync(join(bin, 'node'))) {
    const quietly = ['--no-audit', '--no-fund', '--loglevel=error'];
    await promisify(execFile)('npm', ['install', '--prefix', prefix, ...quietly, `node@${major}`]);
  }
  return bin;
}
