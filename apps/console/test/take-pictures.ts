/**
 * Takes the two pictures of README.md, light and dark: pnpm pictures [minutes]
 *
 * Starts the demo, changes the rate of its feed so that the chart has a shape, and waits until the chart is full. The
 * pictures have the fonts of this machine: Debian's fonts-inter as the font `system-ui`, and fonts-noto-color-emoji, look best.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { createEarshot } from '@earshot/sdk';
import { type BrowserContext, chromium, type Page } from 'playwright-core';

const repository = resolve(import.meta.dirname, '../../..');
const minutes = Number(process.argv[2] ?? 19);
const bytesMax = 250_000;

const rules = [
  {
    name: 'Outages',
    intent: 'Know which services fail',
    x: '(outage OR downtime) -is:retweet lang:en',
    firehose: 'title:outage AND language:"en"',
  },
  {
    name: 'Rocket launches',
    intent: 'Follow launches and delays',
    x: '(rocket OR liftoff) -is:retweet lang:en',
    firehose: 'title:rocket AND language:"en"',
  },
  {
    name: 'Chip industry',
    intent: 'Follow prices and supply',
    x: '(chip OR foundry) -is:retweet lang:en',
    firehose: 'title:chip AND language:"en"',
  },
];

/** Posts per second of the feed: two waves, and a busy minute near the end. */
function rateAt(share: number): number {
  return 2.5 + 1.5 * Math.sin(share * 4 * Math.PI) + (share > 0.78 && share < 0.83 ? 7 : 0);
}

const demo = spawn(process.execPath, ['apps/cli/src/main.ts', 'demo', '--json', '--feed', '3,1'], {
  cwd: repository,
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  const [line] = await once(createInterface({ input: demo.stdout }), 'line');
  const { base_url: url, api_key: key, sandbox_url: sandboxUrl, console_url: link } = JSON.parse(line);
  const earshot = createEarshot({ url, key });
  for (const { x, firehose, ...rule } of rules)
    await earshot.createRule({ ...rule, platforms: ['x', 'firehose'], overrides: { x, firehose } });
  await using stack = new AsyncDisposableStack();
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
  stack.defer(() => browser.close());
  const context = await browser.newContext({
    viewport: { width: 1200, height: 720 },
    deviceScaleFactor: 2,
  });
  const page = await context.newPage();
  await page.goto(link);
  await page.getByRole('heading', { name: 'Feed' }).waitFor();

  const from = new Date();
  const endsMs = from.getTime() + minutes * 60_000;
  for (let share = 0; share < 1; share = 1 - (endsMs - Date.now()) / (minutes * 60_000)) {
    await setRate(sandboxUrl, rateAt(share));
    await sleep(Math.min(5_000, Math.max(0, endsMs - Date.now())));
  }
  // No match may arrive between the two pictures.
  await setRate(sandboxUrl, 0);
  await showMatch(page, `${url}/feed?from=${from.toISOString()}`);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await takePicture(page, join(repository, `docs/images/console-feed-${colorScheme}.webp`));
  }
} finally {
  demo.kill('SIGTERM');
  await once(demo, 'close');
}

async function setRate(sandboxUrl: string, postsPerSecond: number): Promise<void> {
  const rates = { posts_per_second: postsPerSecond, pages_per_second: postsPerSecond / 3 };
  await fetch(`${sandboxUrl}/sandbox/feed`, { method: 'POST', body: JSON.stringify(rates) });
}

/** Opens a match in the list, to show why it matched. */
async function showMatch(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await page.locator('ol > li').nth(8).waitFor();
  for (const key of ['j', 'j', 'j']) await page.keyboard.press(key);
  await page.getByRole('complementary', { name: 'The match' }).locator('mark').first().waitFor();
}

async function takePicture(page: Page, file: string): Promise<void> {
  // The chart is a canvas, which is drawn again after a change of the theme.
  await page.waitForTimeout(500);
  const small = await toWebp(page.context(), await page.screenshot());
  if (small.length > bytesMax) throw new Error(`${file} would have ${small.length} bytes, not ${bytesMax}`);
  await writeFile(file, small);
}

/** A third of the size of the PNG. Drawn on an empty page, because the policy of the console forbids such pictures. */
async function toWebp(context: BrowserContext, png: Buffer): Promise<Buffer> {
  const page = await context.newPage();
  const url = await page.evaluate(
    `(async () => {
      const picture = new Image();
      picture.src = 'data:image/png;base64,${png.toString('base64')}';
      await picture.decode();
      const canvas = Object.assign(document.createElement('canvas'), { width: picture.width, height: picture.height });
      canvas.getContext('2d').drawImage(picture, 0, 0);
      return canvas.toDataURL('image/webp', 0.8);
    })()`,
  );
  await page.close();
  return Buffer.from(String(url).replace('data:image/webp;base64,', ''), 'base64');
}
