import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const soak = fileURLToPath(new URL('./soak/main.ts', import.meta.url));

/** The exit code and output; the code is 1 if an item is missing without a reason. */
async function run(...args: string[]): Promise<{ code: number; said: string }> {
  return await new Promise((resolve) => {
    execFile(process.execPath, [soak, ...args], (error, stdout, stderr) => {
      console.info(stdout, stderr);
      resolve({ code: error ? 1 : 0, said: stdout });
    });
  });
}

test("two servers under every fault: exactly the items in the ledger's gaps are missing", async () => {
  const { code, said } = await run('--seconds', '45', '--rate', '100');
  expect(said).toMatch(/firehose: (\d+) sent, \1 listed, 0 in gaps, 0 lost, 0 doubled/);
  expect(said).toMatch(/bluesky: (\d+) sent, \1 listed, 0 in gaps, 0 lost, 0 doubled/);
  expect(said).toMatch(/x: \d+ sent, \d+ listed, \d+ in gaps, 0 lost, 0 doubled/);
  // Control: the faults had an effect, because what the stream missed is a gap, or the search has filled it.
  expect(said).toMatch(/x: [1-9]\d* posts were never sent down a stream/);
  expect(code).toBe(0);
});

test('control: a client that does not resume is detected', async () => {
  // This seed begins with cut streams.
  const { code, said } = await run('--seconds', '8', '--rate', '100', '--seed', '7', '--forgetful');
  expect(said).toContain('cut streams');
  expect(said).toMatch(/firehose: .* [1-9]\d* lost/);
  expect(code).toBe(1);
});
