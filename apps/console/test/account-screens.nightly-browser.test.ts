import { randomBytes } from 'node:crypto';
import { eventually } from '@earshot/testkit';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Api, NewRule } from '../../../e2e/src/api.ts';
import { startReceiver } from '../../../e2e/src/webhook-receiver.ts';
import { type Console, startConsole } from './console-page.ts';
import { findFlaws } from './every-screen.ts';

const within = { timeoutMs: 240_000 };

/** A console of an account with rules, matches, notices and a webhook. */
let running: Console;
let api: Api;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  receiver = stack.use(await startReceiver());
  const secretsKey = randomBytes(32).toString('base64');
  const test = 'allowInsecureWebhooks=true';
  running = stack.use(await startConsole({ EARSHOT_SECRETS_KEY: secretsKey, EARSHOT_TEST: test }));
  api = running.server.api(running.account);
  const { rule_id } = await createRule({ x: 'aurora', firehose: 'aurora', name: 'Northern lights' });
  await api.updateRule(rule_id, { budget: { period: 'day', usd: 5 } });
  await createExpiring({ x: 'meteor', name: 'Falling stars' });
  await call('CreateWebhook', { name: 'alerts', url: receiver.url });
  await running.world.sandbox.posts(['an aurora tonight', 'no aurora <script>alert(1)</script>']);
  await eventually(async () => expect((await api.matches()).matches).toHaveLength(2), within);
  await eventually(async () => {
    const listed = Object((await api.call('POST', '/notices', {})).json);
    expect(listed.notices).toMatchObject([{ type: 'rule.expired' }]);
  }, within);
}, 600_000);
afterAll(() => stack.disposeAsync());

async function call(operation: string, request: object = {}) {
  const answer = await api.call('POST', `/api.${operation}`, request);
  expect(answer).toMatchObject({ status: 200 });
  return Object(answer.json);
}

/** Retries, because on a busy machine the platform may confirm too late. Then no rule is created. */
const createRule = (rule: NewRule) => eventually(() => api.createRule(rule), within);

async function createExpiring(rule: NewRule): Promise<void> {
  const { rule_id } = await createRule(rule);
  await api.updateRule(rule_id, { expires_at: new Date(Date.now() + 2_000).toISOString() });
}

/** Waits until the screen has loaded its data. */
async function open(path: string): Promise<Page> {
  const { page } = await running.open();
  await page.goto(`${running.server.url}${path}`);
  await page.locator('main h1').waitFor();
  const loading = page.locator('main output').filter({ hasText: /…$/ });
  await eventually(async () => expect(await loading.count()).toBe(0), within);
  return page;
}

test('coverage shows a covered rule, and keeps the opened rule in the address', async () => {
  const page = await open('/coverage');
  const rule = page.getByRole('button', { name: 'Northern lights' });
  await rule.press('Enter');
  await page.getByRole('link', { name: 'Matches of this rule' }).waitFor();
  expect(new URL(page.url()).searchParams.get('rule')).toMatch(/^rule_/);
  expect(await page.locator('main').innerText()).toMatch(/(Covered without a gap|Covered since)/);
});

test("cost shows today's matches and the budget", async () => {
  const page = await open('/cost');
  await page.getByRole('row', { name: /Northern lights/ }).waitFor();
  expect(await page.getByText(/of \$5\.00 per day/).count()).toBe(1);
});

test('the badge counts new notices on every screen', async () => {
  const page = await open('/sources');
  await page.getByRole('link', { name: 'Notices 1 open' }).waitFor();
  await createExpiring({ x: 'brief', name: 'Brief' });
  await page.getByRole('link', { name: 'Notices 2 open' }).waitFor();
  await page.getByRole('link', { name: 'Notices 2 open' }).press('Enter');
  await page.getByRole('heading', { name: 'The rule has expired: Brief' }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/notices');
});

test('creates a key by keyboard, shows it once and revokes it', async () => {
  const page = await open('/keys');
  await page.getByRole('button', { name: 'New key' }).press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Amount').fill('much');
  await page.keyboard.press('Enter');
  await dialog.getByRole('alert').waitFor();
  await dialog.getByLabel('Amount').fill('2.5');
  await page.keyboard.press('Enter');
  const key = await dialog.locator('code').filter({ hasText: /^esk_/ }).innerText();
  const keyId = (await call('ListKeys')).keys[0].id;
  const asNew = running.server.api({ ...running.account, key });
  expect((await asNew.listRules()).rules.length).toBeGreaterThan(0);
  expect(await findFlaws(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await page.getByText('$2.50 per day, then pause its rules').waitFor();
  expect(await page.content()).not.toContain(key);

  await page
    .getByRole('row')
    .filter({ hasText: keyId })
    .getByRole('button', { name: /^Revoke/ })
    .press('Enter');
  await dialog.getByRole('button', { name: 'Revoke' }).press('Enter');
  await page.getByText(keyId).waitFor({ state: 'detached' });
  await eventually(async () => {
    expect(await asNew.call('POST', '/api.ListKeys', {})).toMatchObject({ status: 401 });
  }, within);
});

test('creates, tests, opens, pauses and deletes a webhook, and rotates its secret', async () => {
  const page = await open('/webhooks');
  const dialog = page.getByRole('dialog');
  const secret = () =>
    dialog
      .locator('code')
      .filter({ hasText: /^whsec_/ })
      .innerText();
  await page.getByRole('button', { name: 'New webhook' }).click();
  await dialog.getByLabel('Name').fill('by hand');
  await dialog.getByLabel('URL').fill('not a URL');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByRole('alert').waitFor();
  await dialog.getByLabel('URL').fill(receiver.url);
  for (const rule of ['Falling stars', 'Northern lights']) await dialog.getByLabel(rule).check();
  await dialog.getByRole('button', { name: 'Create' }).click();
  const first = await secret();
  await page.keyboard.press('Escape');

  await page.getByText('matches of Falling stars, Northern lights').waitFor();
  await page.getByRole('link', { name: 'by hand' }).click();
  await running.world.sandbox.posts(['one more aurora']);
  await page.getByRole('cell', { name: 'Delivered' }).first().waitFor();
  await page.getByRole('button', { name: 'Test' }).click();
  await dialog.getByText('thank you').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Rotate secret …' }).click();
  await dialog.getByRole('button', { name: 'Rotate' }).click();
  expect(await secret()).not.toBe(first);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Send again from here …' }).first().click();
  await dialog.getByRole('button', { name: 'Send again' }).click();
  await dialog.getByText(/^Earshot sends all matches from mat_/).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('button', { name: 'Enable' }).waitFor();
  await page.getByRole('button', { name: 'Delete …' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'Webhooks' }).waitFor();
  expect((await call('ListWebhooks')).webhooks.map(({ name }: { name: string }) => name)).toEqual(['alerts']);
});

test('the audit log is filtered, and shows how many changes were searched', async () => {
  const page = await open('/audit?operation=CreateRule');
  await page.getByText(/of the \d+ latest changes\. There are no older ones\./).waitFor();
  const rows = await page.getByRole('row').allInnerTexts();
  expect(rows.slice(1).every((row) => row.includes('CreateRule'))).toBe(true);
  expect(rows.length).toBeGreaterThan(1);
});
