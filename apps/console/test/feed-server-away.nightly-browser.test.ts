import { eventually } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Console, startConsole } from './console-page.ts';
import { createLanternRule, patience, patientLeases } from './feed-page.ts';

const away = 'The server cannot be reached. This page may be out of date; trying again …';

let running: Console;
beforeAll(async () => {
  running = await startConsole(patientLeases);
  await createLanternRule(running);
}, 600_000);
afterAll(() => running?.[Symbol.asyncDispose]());

test('screens say that the server is away, keep what they show, and are up to date when it is back', async () => {
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

  for (const { page } of [keys, rules]) await page.getByText(away).waitFor();
  expect(await keys.page.getByText(account.keyId).count()).toBeGreaterThan(0);
  expect(await rules.page.getByText('Lanterns').count()).toBeGreaterThan(0);
  // A screen that was not open before: its script is still at the server.
  await rules.page.keyboard.press('g');
  await rules.page.keyboard.press('a');
  await eventually(() => new URL(rules.page.url()).pathname === '/audit', patience);
  await rules.page.getByText(away).waitFor();

  const made = await world.admin.createKey({ accountId: account.accountId });
  await world.startServer({ EARSHOT_PORT: new URL(server.url).port });
  await keys.page.getByText(made?.keyId ?? '').waitFor();
  await rules.page.getByRole('heading', { name: 'Audit' }).waitFor();
  await rules.page
    .getByRole('row', { name: /CreateRule/ })
    .first()
    .waitFor();
  for (const { page, problems } of [keys, rules]) {
    await page.getByText(away).waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  }
});
