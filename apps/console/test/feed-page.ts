import { eventually } from '@earshot/testkit';
import type { Page } from 'playwright-core';
import type { ServerUnderTest } from '../../../e2e/src/world.ts';
import type { Console } from './console-page.ts';

/** On a machine that does much else, everything takes longer; what hangs is found nevertheless. */
export const patience = { timeoutMs: 240_000 };

/** So is who holds what: with the short leases of other tests, a server that gets no time to compute loses all of them. */
export const patientLeases = { EARSHOT_TEST: 'leaseTtlMs=10000' };

/** A rule that the posts of these tests match. On a busy machine the platform may confirm too late, and nothing is created. */
export function createLanternRule({ server, account }: Console) {
  return eventually(() => server.api(account).createRule({ x: 'lantern', name: 'Lanterns' }), patience);
}

/** What the API lists, the newest first: what a feed has to show. */
export async function listedTexts(server: ServerUnderTest, { account }: Console): Promise<string[]> {
  const matches = await server.api(account).allMatches();
  return matches.map(({ payload }) => String(payload.text)).toReversed();
}

/** The feed of the page, as it is seen and used. */
export function feedOf(page: Page) {
  const rows = page.getByRole('list', { name: 'Matches, newest first' }).getByRole('listitem');
  return {
    rows,
    row: (text: string) => rows.filter({ hasText: text }),
    status: (words: string) => page.getByText(words, { exact: true }).waitFor(),
    peek: page.getByRole('complementary', { name: 'The match' }),
    parameter: (name: string) => new URL(page.url()).searchParams.get(name),
    /** The texts of all rows, from the first to the last: scrolls through the list while it reads more. */
    readAll: (expected: number) => page.evaluate<string[]>(`(${readAllRows})(${expected})`),
  };
}

/** In the page. A row's place tells its number: one that is missing leaves a hole, and one that is doubled comes twice. */
const readAllRows = `async (expected) => {
  const list = document.querySelector('ol[aria-label="Matches, newest first"]');
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const texts = [];
  list.parentElement.scrollTop = 0;
  for (let waits = 0; texts.filter(() => true).length < expected && waits < 2000; ) {
    const before = texts.length;
    for (const row of list.children) {
      const top = new DOMMatrix(row.style.transform).f;
      texts[Math.round(top / row.offsetHeight)] = row.querySelector('bdi').textContent;
    }
    list.parentElement.scrollTop += list.parentElement.clientHeight;
    await frame();
    await frame();
    waits = texts.length > before ? 0 : waits + 1;
  }
  return texts;
}`;
