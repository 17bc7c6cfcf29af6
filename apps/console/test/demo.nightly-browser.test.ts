import { mkdir, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, loadavg } from 'node:os';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeTempDir, type RunningCommand, repository, startDemo } from '../../../e2e/src/demo-process.ts';
import { openPage, startBrowser } from './console-page.ts';

/** Shown in README.md. Written only on demand: a test leaves the tree as it is. */
const picture = join(repository, 'docs/images/console-feed.png');
const pictureBytesMax = 300_000;

let tempDir: string;
let running: RunningCommand | undefined;
beforeAll(async () => {
  tempDir = await makeTempDir();
});
afterAll(async () => {
  running?.process.kill('SIGTERM');
  await running?.exited;
  await rm(tempDir, { recursive: true, force: true });
});

test('one click from the demo to the first highlighted match', async () => {
  await using stack = new AsyncDisposableStack();
  // It is open when somebody clicks.
  const browser = await startBrowser();
  stack.defer(() => browser.close());
  const startedAt = performance.now();
  running = startDemo([], tempDir);
  const [link] = await running.line(/http\S+#code=\S+/);
  const linkedAt = performance.now();
  const { page, problems } = await openPage(browser, link, { deviceScaleFactor: 1.25 });
  await page.locator('mark').first().waitFor();
  const seconds = (performance.now() - startedAt) / 1_000;
  const load = loadavg()[0] ?? 0;
  const sinceClick = (performance.now() - linkedAt) / 1_000;
  console.log(
    `first highlighted match after ${seconds.toFixed(1)} s, ${sinceClick.toFixed(1)} s after the click (load ${load.toFixed(1)})`,
  );
  // Fifteen on a machine that does nothing else; other work on it is no fault of the demo.
  expect(seconds).toBeLessThanOrEqual(15 * Math.max(1, load / availableParallelism()));
  // The code is gone from the address.
  expect(new URL(page.url()).hash).toBe('');
  expect(problems).toEqual([]);
  if (process.env['UPDATE_PICTURES'] === '1') await takePicture(page);
});

/** The feed with some matches, and one of them beside it. */
async function takePicture(page: Page): Promise<void> {
  await page.locator('ol > li').nth(11).waitFor();
  for (const key of ['j', 'j', 'j']) await page.keyboard.press(key);
  await page.getByRole('complementary', { name: 'The match' }).locator('mark').first().waitFor();
  const taken = await page.screenshot();
  expect(taken.length).toBeLessThan(pictureBytesMax);
  await mkdir(dirname(picture), { recursive: true });
  await writeFile(picture, taken);
}
