import type { Page } from 'playwright-core';
import { findAccessibilityViolations } from './console-page.ts';

/** Navigates to a screen like a link, without reloading the page. */
export async function showScreen(page: Page, path: string): Promise<void> {
  const go = (to: string) => `history.pushState(null, '', ${JSON.stringify(to)})`;
  // Shows another screen first, so that the screen is mounted again if it is already shown.
  await page.evaluate(go('/nowhere'));
  await page.getByText('The page does not exist.').waitFor();
  await page.evaluate(go(path));
}

const phone = { width: 360, height: 780 };

/** Usability problems of the page: axe violations in light, low contrasts in dark, and overflow on a small phone. */
export async function findFlaws(page: Page): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  const light = await findAccessibilityViolations(page);
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  const dark = await findLowContrasts(page);
  return [
    ...light.map((found) => `light: ${found}`),
    ...dark.map((found) => `dark: ${found}`),
    ...(await overflowOnPhone(page)),
  ];
}

/** Checks only contrasts: everything else is the same in every theme. */
function findLowContrasts(page: Page): Promise<string[]> {
  return page.evaluate(
    `axe.run(document, { runOnly: ['color-contrast'] }).then(({ violations }) =>
      violations.flatMap(({ nodes }) => nodes.map(({ target }) => 'contrast of ' + target.join(' '))))`,
  );
}

async function overflowOnPhone(page: Page): Promise<string[]> {
  const before = page.viewportSize();
  await page.setViewportSize(phone);
  const wider = await page.evaluate<number>(`Math.max(...['html', 'main', 'dialog[open]']
    .flatMap((name) => [...document.querySelectorAll(name)])
    .map((element) => element.scrollWidth - element.clientWidth))`);
  if (before) await page.setViewportSize(before);
  return wider > 0 ? [`${wider} px wider than a phone`] : [];
}
