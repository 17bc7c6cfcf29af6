import { skipUnless } from '@earshot/testkit';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ServerUnderTest, startWorld, type World } from '../../../e2e/src/world.ts';
import { openPage, startBrowser } from './console-page.ts';
import { showScreen } from './every-screen.ts';
import { compareWithKept, countDiffering, isAlike } from './pictured/compare.ts';
import { fixPage, startQuietStreams } from './pictured/fixed-page.ts';
import { otherFont } from './pictured/fonts.ts';
import { dialogs, empties, failing, type PicturedScreen, waiting, withData } from './pictured/screens.ts';

const context = { viewport: { width: 1280, height: 800 }, timezoneId: 'UTC', locale: 'en-US' } as const;

/** The real files, from the real server; only what they ask for is answered by the test, and the clock stands still. */
describe('the screens look as in the kept pictures', skipUnless('fonts', otherFont()), () => {
  let world: World;
  let server: ServerUnderTest;
  let browser: Browser;
  let canvas: Page;
  let streams: Awaited<ReturnType<typeof startQuietStreams>>;
  beforeAll(async () => {
    world = await startWorld();
    server = await world.startServer();
    browser = await startBrowser();
    streams = await startQuietStreams();
    canvas = (await openPage(browser, server.url)).page;
  }, 600_000);
  afterAll(async () => {
    await browser?.close();
    await streams?.[Symbol.asyncDispose]();
    await world?.[Symbol.asyncDispose]();
  });

  async function expectLikeKept(page: Page, name: string): Promise<void> {
    const dialog = page.locator('dialog[open]');
    const shown = (await dialog.count()) > 0 ? dialog : page;
    const taken = await shown.screenshot({ animations: 'disabled', timeout: 240_000 });
    expect(await compareWithKept(name, taken, canvas)).toBe('');
  }

  test('sign-in', async () => {
    const page = await browser.newPage({ ...context, reducedMotion: 'reduce' });
    await page.goto(server.url);
    await page.getByLabel('API key').waitFor();
    await expectLikeKept(page, 'sign-in');
    await page.close();
  });

  test('one word more is not alike', async () => {
    const page = await browser.newPage(context);
    await page.goto(server.url);
    await page.getByLabel('API key').waitFor();
    const [before, again] = [await page.screenshot(), await page.screenshot()];
    await page.evaluate(`document.querySelector('h1').append(' now')`);
    const after = await page.screenshot();
    expect(isAlike(await countDiffering(canvas, before, again))).toBe(true);
    expect(isAlike(await countDiffering(canvas, before, after))).toBe(false);
    await page.close();
  });

  describe.each([
    ['with something to show', withData, ['light', 'dark']],
    ['with nothing to show', empties, ['light']],
    ['while the server has not answered', waiting, ['light']],
    ['when the server fails', failing, ['light']],
    ['dialogs', dialogs, ['light']],
  ] as const)('%s', (_, screens, themes) => {
    let page: Page;
    let settled: () => Promise<void>;
    let answers: PicturedScreen['answers'] | undefined;
    afterAll(() => page?.close());

    /** A page keeps what it was answered. */
    async function begin(screen: PicturedScreen): Promise<void> {
      await page?.close();
      page = await browser.newPage({ ...context, reducedMotion: 'reduce' });
      page.setDefaultTimeout(240_000);
      settled = await fixPage(page, screen.answers, streams.url);
      await page.goto(server.url);
      answers = screen.answers;
    }

    test.each(screens)('$name', async (screen) => {
      if (answers !== screen.answers) await begin(screen);
      await showScreen(page, screen.path);
      await page.getByText(screen.words).first().waitFor();
      await screen.act?.(page);
      await settled();
      for (const colorScheme of themes) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        await expectLikeKept(page, themes.length > 1 ? `${screen.name}-${colorScheme}` : screen.name);
      }
    });
  });
});
