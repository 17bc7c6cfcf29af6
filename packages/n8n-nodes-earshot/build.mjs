import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const dir = import.meta.dirname;
rmSync(join(dir, 'dist'), { recursive: true, force: true });
execFileSync(join(dir, 'node_modules/.bin/tsc'), ['-p', dir], { stdio: 'inherit' });
cpSync(join(dir, 'icons'), join(dir, 'dist/icons'), { recursive: true });
