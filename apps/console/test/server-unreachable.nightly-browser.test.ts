import { eventually } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Console, startConsole } from './console-page.ts';
import { createLanternRule, longLeases, patience } from './feed-page.ts';

const banner = 'The server cannot be reached. This page may be out of date; trying again …';

let running: Console;
beforeAll(async () => {
  running = await startConsole(longLeases);
  await createLanternRule(running);
}, 600_000);
afterAll(() => running?.[Symbol.asyncDispose]());

test('screens report an unreachable server, keep their data, and update when it is back', async () => {
  const { world, server, account } = running;
  const open = async (path: string, shown: string) => {
    const { page, problems } = await running.open();
    await page.goto(`${server.url}${path}`);
    await page.getByText(shown).first().waitFor();
    return { page, problems };
  };
  const keys = await open('/keys', account.keyId);
  const rules = await open('/rules', 'Lanterns');
  await server.kill();

  for (const { page } of [keys, rules]) await page.getByText(banner).waitFor();
  expect(await keys.page.getByText(account.keyId).count()).toBeGreaterThan(0);
  expect(await rules.page.getByText('Lanterns').count()).toBeGreaterThan(0);
  // This screen was not open before, so its script must be loaded from the server.
  await rules.page.keyboard.press('g');
  await rules.page.keyboard.press('a');
  await eventually(() => new URL(rules.page.url()).pathname === '/audit', patience);
  await rules.page.getByText(banner).waitFor();

  const created = await world.admin.createKey({ accountId: account.accountId });
  await world.startServer({ EARSHOT_PORT: new URL(server.url).port });
  await keys.page.getByText(created?.keyId ?? '').waitFor();
  await rules.page.getByRole('heading', { name: 'Audit' }).waitFor();
  await rules.page
    .getByRole('row', { name: /CreateRule/ })
    .first()
    .waitFor();
  for (const { page, problems } of [keys, rules]) {
    await page.getByText(banner).waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  }
});
