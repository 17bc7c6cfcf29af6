import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Account } from '../../../e2e/src/world.ts';
import { type Console, startConsole } from './console-page.ts';

let running: Console;
beforeAll(async () => {
  running = await startConsole();
});
afterAll(() => running?.[Symbol.asyncDispose]());

async function newLink({ key }: Account): Promise<string> {
  const headers = { authorization: `Bearer ${key}` };
  const answer = await fetch(`${running.server.url}/console/links`, { method: 'POST', headers });
  return Object(await answer.json()).url;
}

const feed = (page: Page) => page.getByRole('heading', { name: 'Feed' });
const accept = (page: Page, account = 'test account') =>
  page
    .locator('main', { has: page.getByRole('heading', { name: `Sign in as ${account}?` }) })
    .getByRole('button', { name: 'Sign in' })
    .press('Enter');
const keyField = (page: Page) => page.getByLabel('API key');

test('a link signs in only after a question that names the account, and not if that is cancelled', async () => {
  const { page } = await running.open({ signedIn: false });
  const link = await newLink(running.account);
  await page.goto(link);
  await page.getByRole('heading', { name: 'Sign in as test account?' }).waitFor();
  expect(await page.context().cookies()).toEqual([]);
  await page.getByRole('button', { name: 'Cancel' }).press('Enter');
  await keyField(page).waitFor();
  expect(await page.context().cookies()).toEqual([]);
});

test('a link signs in once, its code leaves the address, and a second link works in the same tab', async () => {
  const { page, problems } = await running.open({ signedIn: false });
  const link = await newLink(running.account);
  await page.goto(link);
  await accept(page);
  await feed(page).waitFor();
  expect(page.url()).toBe(`${running.server.url}/feed`);
  await page.getByRole('button', { name: 'Sign out' }).press('Enter');
  await keyField(page).waitFor();

  await page.goto(link);
  await page.getByRole('alert').getByText('This link was already used').waitFor();
  expect(page.url()).toBe(`${running.server.url}/`);
  await page.goto(await newLink(running.account));
  await accept(page);
  await feed(page).waitFor();
  expect(problems).toEqual([]);
});

test('a link for another account is refused, and the session stays', async () => {
  const { page } = await running.open();
  await page.goto(await newLink(await running.world.newAccount('Another account')));
  await accept(page, 'Another account');
  await page.getByRole('alert').getByText('This link belongs to another account').waitFor();
  await page.getByRole('button', { name: 'Stay signed in as test account' }).press('Enter');
  await feed(page).waitFor();
  expect(await page.getByText('test account').count()).toBe(1);
});

test('an open page shows the sign-in form when its key is revoked', async () => {
  const { accountId } = running.account;
  const created = await running.world.admin.createKey({ accountId });
  if (!created) throw new Error('the account is gone');
  const { page } = await running.open({ signedIn: false });
  await page.goto(await newLink({ accountId, ...created }));
  await accept(page);
  // Its stream is open; the account has no rules.
  await page.getByText('Not receiving: no rule is active').waitFor();
  await running.world.admin.revokeKey(created.keyId);
  // The server ends the stream of the page, which is faster than the next poll.
  await keyField(page).waitFor();
  expect(await page.locator('nav').count()).toBe(0);
});

test('signing out in one tab signs out the other tabs', async () => {
  const { page } = await running.open();
  const other = await page.context().newPage();
  await other.goto(running.server.url);
  await feed(other).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).press('Enter');
  await keyField(page).waitFor();
  await keyField(other).waitFor();
  expect(await other.locator('nav').count()).toBe(0);
});
