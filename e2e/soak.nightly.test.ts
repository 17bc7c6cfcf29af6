import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const soak = fileURLToPath(new URL('./soak/main.ts', import.meta.url));

/** Exit code and what it said; the code is 1 when something is missing without a reason. */
async function run(...args: string[]): Promise<{ code: number; said: string }> {
  return await new Promise((resolve) => {
    execFile(process.execPath, [soak, ...args], (error, stdout, stderr) => {
      console.info(stdout, stderr);
      resolve({ code: error ? 1 : 0, said: stdout });
    });
  });
}

test('two servers under every fault: what is missing is what the ledger says', async () => {
  const { code, said } = await run('--seconds', '45', '--rate', '100');
  expect(said).toMatch(/firehose: (\d+) sent, \1 listed, 0 in gaps, 0 lost, 0 doubled/);
  expect(said).toMatch(/x: \d+ sent, \d+ listed, \d+ in gaps, 0 lost, 0 doubled/);
  // The faults fired, and they hurt: what the stream missed is a gap, or the search has filled it.
  expect(said).toMatch(/x: [1-9]\d* posts were never sent down a stream/);
  expect(code).toBe(0);
});

test('control: a client that forgets where to resume is found out', async () => {
  // This seed begins with cut streams.
  const { code, said } = await run('--seconds', '8', '--rate', '100', '--seed', '7', '--forgetful');
  expect(said).toContain('cut streams');
  expect(said).toMatch(/firehose: .* [1-9]\d* lost/);
  expect(code).toBe(1);
});
