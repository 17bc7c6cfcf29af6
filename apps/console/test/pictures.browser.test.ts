import { skipUnless } from '@earshot/testkit';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ServerUnderTest, startWorld, type World } from '../../../e2e/src/world.ts';
import { openPage, startBrowser } from './console-page.ts';
import { findFlaws, showScreen } from './every-screen.ts';
import { fullAnswers } from './pictured/answers.ts';
import { compareWithStored, countDiffering, isAlike } from './pictured/compare.ts';
import { fixPage, startQuietStreams } from './pictured/fixed-page.ts';
import { otherFont, picturedFonts } from './pictured/fonts.ts';
import { dialogs, empties, failing, type PicturedScreen, waiting, withData } from './pictured/screens.ts';

const context = { viewport: { width: 1280, height: 800 }, timezoneId: 'UTC', locale: 'en-US' } as const;

const { skip: isNotCompared } = skipUnless('fonts', otherFont());

/** The pages come from a real server. The test answers their API requests and stops the clock. */
describe('every screen looks like its stored picture and is accessible', () => {
  let world: World;
  let server: ServerUnderTest;
  let browser: Browser;
  let canvas: Page;
  let streams: Awaited<ReturnType<typeof startQuietStreams>>;
  beforeAll(async () => {
    world = await startWorld();
    server = await world.startServer();
    browser = await startBrowser({ env: picturedFonts });
    streams = await startQuietStreams();
    canvas = (await openPage(browser, server.url)).page;
  }, 600_000);
  afterAll(async () => {
    await browser?.close();
    await streams?.[Symbol.asyncDispose]();
    await world?.[Symbol.asyncDispose]();
  });

  async function expectLikeStored(page: Page, name: string): Promise<void> {
    if (isNotCompared) return;
    const dialog = page.locator('dialog[open]');
    const shown = (await dialog.count()) > 0 ? dialog : page;
    const taken = await shown.screenshot({ animations: 'disabled', timeout: 240_000 });
    expect(await compareWithStored(name, taken, canvas)).toBe('');
  }

  test('sign-in, also with a wrong key', async () => {
    const page = await browser.newPage({ ...context, reducedMotion: 'reduce' });
    await page.goto(server.url);
    const key = page.getByLabel('API key');
    await key.waitFor();
    await expectLikeStored(page, 'sign-in');
    expect(await findFlaws(page)).toEqual([]);
    await key.fill('esk_wrong');
    await page.keyboard.press('Enter');
    await page.locator('input[aria-invalid=true]').waitFor();
    expect(await findFlaws(page)).toEqual([]);
    await page.close();
  });

  test('control: an added word is found as a difference', async () => {
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

  test('control: finds a missing label, a low contrast and an overflow on a phone', async () => {
    const page = await browser.newPage(context);
    const settled = await fixPage(page, fullAnswers, streams.url);
    await page.goto(`${server.url}/sources`);
    await page.getByText('CreditsDepleted').first().waitFor();
    await settled();
    await page.evaluate(`
      document.querySelector('select[aria-label="Colours"]').removeAttribute('aria-label');
      Object.assign(document.querySelector('main h1').style, { color: 'light-dark(#111, #222)', minWidth: '600px' });`);
    expect(await findFlaws(page)).toEqual([
      expect.stringMatching(/^light: select-name: /),
      expect.stringMatching(/^dark: contrast of /),
      expect.stringMatching(/ px wider than a phone$/),
    ]);
    await page.close();
  });

  describe.each([
    ['with data', withData],
    ['without data', empties],
    ['while the server does not answer', waiting],
    ['when the server fails', failing],
    ['dialogs', dialogs],
  ] as const)('%s', (_, screens) => {
    let page: Page;
    let settled: () => Promise<void>;
    let answers: PicturedScreen['answers'] | undefined;
    afterAll(() => page?.close());

    /** Opens a new page, because a page caches its answers. */
    async function start(screen: PicturedScreen): Promise<void> {
      await page?.close();
      page = await browser.newPage({ ...context, reducedMotion: 'reduce' });
      page.setDefaultTimeout(240_000);
      settled = await fixPage(page, screen.answers, streams.url);
      await page.goto(server.url);
      answers = screen.answers;
    }

    test.each(screens)('$name', async (screen) => {
      if (answers !== screen.answers) await start(screen);
      await showScreen(page, screen.path);
      await page.getByText(screen.words).first().waitFor();
      await screen.act?.(page);
      await settled();
      await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
      if (!screen.isOnlyChecked) await expectLikeStored(page, screen.name);
      if (screen.inDark) {
        await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
        await expectLikeStored(page, `${screen.name}-dark`);
      }
      expect(await findFlaws(page)).toEqual([]);
    });
  });
});
