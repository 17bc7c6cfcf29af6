import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { blueskyKnobs } from '../src/bluesky/knobs.ts';
import { faultKinds } from '../src/faults.ts';
import { firehoseKnobs } from '../src/firehose/knobs.ts';
import { type Sandbox, startSandbox } from '../src/index.ts';
import { judgeKnobs } from '../src/judge/knobs.ts';
import { toWireName } from '../src/knobs.ts';
import { xKnobs } from '../src/x/knobs.ts';

vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 });

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const blocks = Array.from(readme.matchAll(/```sh\n(.*?)```/gs), ([, script = '']) => ({
  script,
  firstLine: script.split('\n')[0],
}));

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ feed: { postsPerSecond: 5, pagesPerSecond: 1 } });
});
afterAll(() => sandbox.close());

test.each(blocks)('the readme block works: $firstLine', async (block) => {
  // The README reads streams for three seconds; one second is enough for the feed.
  const commands = block.script.replaceAll('--max-time 3', '--max-time 1');
  const script = `set -e\n${commands.replaceAll('http://127.0.0.1:7600', sandbox.url)}`;
  const { stdout } = await promisify(execFile)('bash', ['-c', script]);
  expect(stdout).not.toBe('');
});

test('the readme has commands and names every fault', () => {
  expect(blocks.length).toBeGreaterThan(5);
  const list = readme.slice(readme.indexOf('### Faults'), readme.indexOf('### Knobs'));
  const named = Array.from(list.matchAll(/^- `([a-z_]+)`/gm), ([, kind]) => kind);
  expect(new Set(named)).toEqual(new Set(Object.keys(faultKinds)));
});

test('the readme names every knob', () => {
  const lists = readme.slice(readme.indexOf('### Knobs'), readme.indexOf('## Time'));
  const named = Array.from(lists.matchAll(/^- `([a-z_]+)` \([XF]-/gm), ([, name]) => name);
  expect(named).toEqual([...Object.keys(xKnobs), ...Object.keys(firehoseKnobs)].map(toWireName));
});

test('the readme names every knob of Bluesky', () => {
  const list = readme.slice(readme.indexOf('### Bluesky'), readme.indexOf('### Judge'));
  const named = Array.from(list.matchAll(/^- `([a-z0-9_]+)`/gm), ([, name]) => name);
  expect(named).toEqual(Object.keys(blueskyKnobs).map(toWireName));
});

test('the readme names every mode of the judge', () => {
  const list = readme.slice(readme.indexOf('### Judge'), readme.indexOf('### Faults'));
  const named = Array.from(list.matchAll(/^- `([a-z_]+)`:/gm), ([, mode]) => mode);
  expect(named.join(' or ')).toBe(judgeKnobs.mode.values);
});
