import { eventually } from '@earshot/testkit';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findFlaws, showScreen } from './every-screen.ts';
import { type FilledConsole, startFilledConsole } from './filled-console.ts';

let running: FilledConsole;
let page: Page;
/** How long anything may take is no bet on what else the machine does. */
const patienceMs = 600_000;
beforeAll(async () => {
  running = await startFilledConsole();
}, patienceMs);
afterAll(() => running?.[Symbol.asyncDispose]());

const within = { timeoutMs: 240_000 };
const idsOf = () => ({ RULE: running.ruleId, WEBHOOK: running.webhookId });
/** `RULE` and `WEBHOOK` stand for what the account has. */
const pathOf = (path: string) => path.replace(/RULE|WEBHOOK/, (name) => Object(idsOf())[name]);

async function expectNoFlaws(path: string): Promise<void> {
  expect({ path, flaws: await findFlaws(page) }).toEqual({ path, flaws: [] });
}

describe('with something to show', () => {
  beforeAll(async () => {
    ({ page } = await running.console.open());
  }, patienceMs);
  afterAll(() => page.close());

  test.each([
    ['/feed', 'an aurora tonight'],
    ['/rules', 'Northern lights'],
    ['/rules/RULE', 'Value on X'],
    ['/coverage?rule=RULE', 'Open the rule'],
    ['/sources', 'Listening'],
    ['/cost', /of \$5\.00 a day/],
    ['/notices?show=all', 'The rule has expired'],
    ['/webhooks', 'alerts'],
    ['/webhooks/WEBHOOK', 'Send again from here …'],
    ['/keys', 'signed in with it'],
    ['/audit', 'your key'],
    ['/no/such/page', 'There is no such page.'],
  ])('%s has no flaw', async (path, words) => {
    await showScreen(page, pathOf(path));
    await page.locator('main').getByText(words).first().waitFor();
    await expectNoFlaws(path);
  });

  test('a match that is looked at has no flaw', async () => {
    await showScreen(page, '/feed');
    await page.locator('mark').first().waitFor();
    await page.keyboard.press('j');
    await page.getByRole('heading', { name: 'Why' }).waitFor();
    await expectNoFlaws('peek');
  });

  test.each([
    ['/keys', 'New key', 'May do'],
    ['/keys', /^Revoke esk_/, 'You are signed in with this key'],
    ['/webhooks', 'New webhook', 'What is posted'],
    ['/webhooks/WEBHOOK', 'Test', 'thank you'],
    ['/webhooks/WEBHOOK', 'Replay since …', 'Since, in your time zone'],
    ['/webhooks/WEBHOOK', 'Rotate secret …', 'For 24 hours'],
    ['/webhooks/WEBHOOK', 'Delete …', 'cannot be undone'],
    ['/webhooks/WEBHOOK', /^Send again from here/, 'and everything after it'],
    ['/rules/RULE', 'Save …', 'does not differ from the rule'],
    ['/rules', /^Delete Northern/, 'cannot be undone'],
  ])('the dialog of %s behind "%s" has no flaw', async (path, button, words) => {
    await showScreen(page, pathOf(path));
    await page.getByRole('button', { name: button }).first().click();
    await page.getByRole('dialog').getByText(words).first().waitFor();
    await expectNoFlaws(`${path} ${button.toString()}`);
  });

  test('a label, a contrast and the width of a phone are missed when they are taken away', async () => {
    await showScreen(page, '/sources');
    await page.getByText('Listening').first().waitFor();
    await page.evaluate(`
      document.querySelector('select[aria-label="Colours"]').removeAttribute('aria-label');
      Object.assign(document.querySelector('main h1').style, { color: 'light-dark(#111, #222)', minWidth: '600px' });`);
    expect(await findFlaws(page)).toEqual([
      expect.stringMatching(/^light: select-name: /),
      expect.stringMatching(/^dark: contrast of /),
      expect.stringMatching(/ px wider than a phone$/),
    ]);
    await page.reload();
  });

  test('the list of keys has no flaw', async () => {
    await showScreen(page, '/sources');
    await page.getByText('Listening').first().waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('Everywhere').waitFor();
    await expectNoFlaws('?');
  });
});

describe('with nothing to show', () => {
  beforeAll(async () => {
    ({ page } = await running.openFor(await running.console.world.newAccount('Stranger')));
  }, patienceMs);
  afterAll(() => page.close());

  test.each([
    ['/feed', 'There is no rule yet.'],
    ['/rules', 'There is no rule yet.'],
    ['/rules/new', 'Value on X'],
    ['/rules/rule_unknown', 'There is no such rule.'],
    ['/coverage', 'There is no rule yet.'],
    ['/cost', 'Nothing was matched in 30 days, so nothing was spent.'],
    ['/notices', 'Nothing is open.'],
    ['/notices?show=all', 'There are no notices yet'],
    ['/webhooks', 'There is no webhook yet.'],
    ['/webhooks/whk_unknown', 'There is no such webhook.'],
    ['/audit?target=nothing', 'No loaded entry matches the filter.'],
  ])('%s says what is true', async (path, words) => {
    await showScreen(page, path);
    await page.getByText(words).first().waitFor();
    await expectNoFlaws(path);
  });
});

const asking = [
  '/feed',
  '/rules',
  '/rules/rule_1',
  '/coverage',
  '/sources',
  '/cost',
  '/notices',
  '/webhooks',
  '/webhooks/whk_1',
  '/keys',
  '/audit',
];

/** Operations, not pages that have the same path, and not streams. */
const isOperation = (url: URL) =>
  url.pathname.startsWith('/api.') || /^\/(matches|notices)$/.test(url.pathname);

describe('while the server has not answered', () => {
  beforeAll(async () => {
    ({ page } = await running.console.open());
    await page.route(isOperation, (route) =>
      route.request().isNavigationRequest() ? route.fallback() : undefined,
    );
    await page.reload();
  }, patienceMs);
  afterAll(() => page.close());

  test.each(asking)('%s says that it waits', async (path) => {
    await showScreen(page, path);
    await page.locator('main output', { hasText: /…$/ }).first().waitFor();
    await expectNoFlaws(path);
  });
});

describe('when the server fails', () => {
  beforeAll(async () => {
    ({ page } = await running.console.open());
    const json = { code: 'internal', message: 'It broke.', details: { request_id: 'req_1' } };
    await page.route(isOperation, (route) =>
      route.request().isNavigationRequest() ? route.fallback() : route.fulfill({ status: 500, json }),
    );
    await page.reload();
  }, patienceMs);
  afterAll(() => page.close());

  test.each(asking)('%s says so, and can be asked again', async (path) => {
    await showScreen(page, path);
    const alert = page.getByRole('alert').filter({ hasText: 'It broke.' });
    await alert.first().waitFor();
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBeGreaterThan(0);
    await expectNoFlaws(path);
  });
});

test('the sign-in has no flaw, also where it refuses a key', async () => {
  ({ page } = await running.console.open({ signedIn: false }));
  await page.getByLabel('API key').waitFor();
  await expectNoFlaws('sign-in');
  await page.getByLabel('API key').fill('esk_wrong');
  await page.keyboard.press('Enter');
  await eventually(async () => expect(await page.getByRole('alert').innerText()).not.toBe(''), within);
  await expectNoFlaws('sign-in refused');
});
