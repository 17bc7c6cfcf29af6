import type { Page } from 'playwright-core';
import { findBarriers } from './console-page.ts';

/** Goes to another screen as a link does: what is loaded stays. */
export async function showScreen(page: Page, path: string): Promise<void> {
  const go = (to: string) => `history.pushState(null, '', ${JSON.stringify(to)})`;
  // By way of another one, so that a screen that is shown already begins anew.
  await page.evaluate(go('/nowhere'));
  await page.getByText('There is no such page.').waitFor();
  await page.evaluate(go(path));
}

const phone = { width: 360, height: 780 };

/**
 * What keeps people from using what is shown: what axe finds in light, which contrasts are too low in dark, and how much
 * wider than a small phone it is.
 */
export async function findFlaws(page: Page): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  const light = await findBarriers(page);
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  const dark = await findLowContrasts(page);
  return [
    ...light.map((found) => `light: ${found}`),
    ...dark.map((found) => `dark: ${found}`),
    ...(await overflowOnPhone(page)),
  ];
}

/** Everything else is the same in every theme. */
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
