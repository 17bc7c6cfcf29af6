import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { FAULT_KINDS } from '../src/faults.ts';
import { type Sandbox, startSandbox } from '../src/index.ts';

vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 });

const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const BLOCKS = Array.from(README.matchAll(/```sh\n(.*?)```/gs), ([, script = '']) => ({
  script,
  firstLine: script.split('\n')[0],
}));

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ feed: { postsPerSecond: 5, pagesPerSecond: 1 } });
});
afterAll(() => sandbox.close());

test.each(BLOCKS)('the README block works: $firstLine', async (block) => {
  const script = `set -e\n${block.script.replaceAll('http://127.0.0.1:7600', sandbox.url)}`;
  const { stdout } = await promisify(execFile)('bash', ['-c', script]);
  expect(stdout).not.toBe('');
});

test('the README has commands and names every fault', () => {
  expect(BLOCKS.length).toBeGreaterThan(5);
  const table = README.slice(README.indexOf('### Faults'));
  const named = Array.from(table.matchAll(/^\| `([a-z_]+)`/gm), ([, kind]) => kind);
  expect(new Set(named)).toEqual(new Set(Object.keys(FAULT_KINDS)));
});
