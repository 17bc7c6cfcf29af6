import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { expect, test } from 'vitest';
import { watch } from '../src/commands/watch.ts';

test('watch acknowledges a page whose matches are all left out, without running the command', async () => {
  await using stack = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), 'earshot-watch-'));
  stack.defer(() => rm(dir, { recursive: true }));
  const pages = [
    { matches: [], hidden: { muted: 3, not_relevant: 0 }, cursor: 'c1' },
    { matches: [{ id: 'mat_2' }], cursor: 'c2' },
  ];
  const requests: unknown[] = [];
  const earshot = {
    readMatches: async (request: object) => {
      requests.push(request);
      const page = pages.shift();
      if (!page) throw new Error('no more pages');
      return page;
    },
    ackMatches: async (request: object) => void requests.push(request),
  };
  const values = { exec: 'cat >> "$OUTPUT"', reader: 'r', relevance: 'relevant' };
  const context = {
    connect: async () => earshot,
    env: { ...env, OUTPUT: join(dir, 'inputs') },
    isJson: false,
    screen: { note: () => undefined, print: () => undefined },
  };
  await expect(watch.run({ options: values, args: {} }, context as never)).rejects.toThrow('no more pages');
  const reading = { reader: 'r', relevance: 'relevant', wait_seconds: 30 };
  expect(requests).toEqual([
    reading,
    { reader: 'r', cursor: 'c1' },
    reading,
    { reader: 'r', cursor: 'c2' },
    reading,
  ]);
  const inputs = (await readFile(join(dir, 'inputs'), 'utf8')).trim().split('\n');
  expect(inputs.map((line) => JSON.parse(line))).toEqual([
    { reader: 'r', matches: [{ id: 'mat_2' }], removed: [] },
  ]);
});
