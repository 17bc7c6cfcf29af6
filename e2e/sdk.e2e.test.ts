import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { createEarshot, type Earshot } from '@earshot/sdk';
import { eventually } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { shareWorld } from './src/shared-world.ts';
import type { Account, ServerUnderTest, World } from './src/world.ts';

let world: World;
let server: ServerUnderTest;
let account: Account;
let earshot: Earshot;
beforeAll(async () => {
  world = await shareWorld();
  server = await world.startServer();
  account = await world.newAccount();
  earshot = createEarshot({ url: server.url, key: account.key });
});
afterAll(() => world?.[Symbol.asyncDispose]());

/** The first lines of the package's README, as a separate program. */
async function startReadme(): Promise<ChildProcessByStdio<null, Readable, null>> {
  const readme = await readFile(new URL('../packages/sdk/README.md', import.meta.url), 'utf8');
  const code = /^```ts\n(.*?)^```$/ms.exec(readme)?.[1] ?? '';
  const here = code.replace('http://127.0.0.1:8080', server.url).replace('esk_…', account.key);
  return spawn('node', ['--input-type=module-typescript', '--eval', here], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

test('the first five lines of the README print matches', async () => {
  const program = await startReadme();
  try {
    const lines: string[] = [];
    createInterface({ input: program.stdout }).on('line', (line) => lines.push(line));
    // It follows matches from its start, which it does not report.
    await eventually(
      async () => {
        await world.sandbox.posts(['a rocket launch at night']);
        expect(lines[0]).toMatch(/^https:\/\/\S+ a rocket launch at night$/);
      },
      { timeoutMs: 60_000 },
    );
  } finally {
    program.kill();
    await once(program, 'close');
  }
  expect(await earshot.listRules()).toMatchObject({ rules: [{ name: 'Rockets', state: 'active' }] });
});
