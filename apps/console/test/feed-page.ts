import { eventually } from '@earshot/testkit';
import type { Page } from 'playwright-core';
import type { ServerUnderTest } from '../../../e2e/src/world.ts';
import type { Console } from './console-page.ts';

/** Long, so that tests also pass on a busy machine. */
export const patience = { timeoutMs: 240_000 };

/** Longer than in other tests: a server on a busy machine would lose short leases. */
export const longLeases = { EARSHOT_TEST: 'leaseTtlMs=10000' };

/** Creates a rule that matches the posts of these tests. Retries, because a busy platform may confirm too late. */
export function createLanternRule({ server, account }: Console) {
  return eventually(() => server.api(account).createRule({ x: 'lantern', name: 'Lanterns' }), patience);
}

/** The texts of all matches in the API, newest first. The feed must show the same. */
export async function listedTexts(server: ServerUnderTest, { account }: Console): Promise<string[]> {
  const matches = await server.api(account).allMatches();
  return matches.map(({ payload }) => String(payload.text)).toReversed();
}

/** The parts of the feed that tests use. */
export function feedOf(page: Page) {
  const rows = page.getByRole('list', { name: 'Matches, newest first' }).getByRole('listitem');
  return {
    rows,
    row: (text: string) => rows.filter({ hasText: text }),
    status: (words: string) => page.getByText(words, { exact: true }).waitFor(),
    peek: page.getByRole('complementary', { name: 'The match' }),
    parameter: (name: string) => new URL(page.url()).searchParams.get(name),
    /** Scrolls through the list and returns the texts of all rows. */
    readAll: (expected: number) => page.evaluate<string[]>(`(${readAllRows})(${expected})`),
  };
}

/** Runs in the page. The index of a row follows from its position, so missing and duplicate rows are found. */
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
