import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const bench = fileURLToPath(new URL('../bench/sustained.ts', import.meta.url));

/** Its bounds in seconds are for an idle machine: here only what is lost or doubled counts, not the exit code. */
async function run(...args: string[]): Promise<string> {
  return await new Promise((resolve) => {
    execFile(process.execPath, [bench, ...args], (_, stdout, stderr) => {
      console.info(stdout, stderr);
      resolve(stdout);
    });
  });
}

test('under load, with PostgreSQL killed in the middle, everything is stored and listed once', async () => {
  const said = await run('--minutes', '0.4', '--rate', '150', '--stop', '3', '--nats-nodes', '1');
  expect(said).toContain('PostgreSQL is back');
  expect(said).toMatch(/^sustained rate=\d+ sent=3600 lost=0 doubled=0 /m);
});
