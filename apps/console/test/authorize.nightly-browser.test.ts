import { createEarshot } from '@earshot/sdk';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  authorizing,
  bodyOf,
  callback,
  createProgram,
  newPkce,
  tokensOf,
} from '../../../e2e/src/oauth-parts.ts';
import { type Console, startConsole } from './console-page.ts';
import { findFlaws } from './every-screen.ts';

let running: Console;
beforeAll(async () => {
  running = await startConsole(await authorizing());
});
afterAll(() => running?.[Symbol.asyncDispose]());

/** Registers a program with the name, and returns the address to which it sends its user. */
async function startAs(name: string) {
  const program = createProgram(running.server);
  const registered = await program.register({ client_name: name });
  const clientId = String(bodyOf(registered)['client_id']);
  const pkce = newPkce();
  return { program, clientId, pkce, url: program.authorizeUrl(clientId, pkce) };
}

const heading = (page: Page, name: string) => page.getByRole('heading', { name: `Connect ${name}` });
const allow = (page: Page) => page.getByRole('button', { name: 'Allow' });

/** The parameters with which the browser returns to the program. */
async function answerAfter(page: Page, click: () => Promise<void>): Promise<URLSearchParams> {
  const [request] = await Promise.all([
    page.waitForRequest((sent) => sent.url().startsWith(callback)),
    click(),
  ]);
  return new URL(request.url()).searchParams;
}

test('a user signs in, grants some of the scopes with a budget, and the program gets a key', async () => {
  const { program, clientId, pkce, url } = await startAs('Some agent');
  const { page, problems } = await running.open({ signedIn: false });
  await page.goto(url);
  await page.getByText('A program asks for access to your account').waitFor();
  await page.getByLabel('API key').fill(running.account.key);
  await page.keyboard.press('Enter');
  await heading(page, 'Some agent to Earshot').waitFor();
  await page.waitForFunction(`document.querySelector('input[inputmode=decimal]')?.value === '5'`);
  expect(await page.getByText('test account').count()).toBe(1);
  expect(await page.getByText('127.0.0.1:7777').count()).toBe(1);
  await page.getByLabel('Create, change, pause and delete rules').uncheck();
  await page.getByLabel('Daily budget').fill('2,50');
  const answer = await answerAfter(page, () => allow(page).click());
  expect(answer.get('iss')).toBe(`${running.server.url}/oauth`);
  const tokens = tokensOf(await program.redeem(clientId, answer.get('code') ?? '', pkce.verifier));
  expect(tokens.scope.split(' ').toSorted()).toEqual(['matches:read', 'rules:read']);
  const { keys } = await createEarshot({ url: running.server.url, key: running.account.key }).listKeys({});
  expect(keys.find(({ client }) => client?.id === clientId)).toMatchObject({
    scopes: ['rules:read', 'matches:read'],
    budget: { period: 'day', usd: 2.5 },
  });
  expect(problems).toEqual([]);
});

test('with a key that has a budget, there is no second one', async () => {
  const { url } = await startAs('Some agent');
  const { accountId } = running.account;
  const budget = { period: 'day', usd: 1, on_reached: 'pause' } as const;
  const limited = await running.world.admin.createKey({ accountId, budget });
  const { page } = await running.open({ signedIn: false });
  await page.goto(url);
  await page.getByLabel('API key').fill(limited?.key ?? '');
  await page.keyboard.press('Enter');
  await page.getByText('also limits the rules of the program').waitFor();
  expect(await page.getByLabel('Daily budget').count()).toBe(0);
  const answer = await answerAfter(page, () => allow(page).click());
  expect(answer.get('code')).toBeTruthy();
});

test('reports a refusal to the program', async () => {
  const { url } = await startAs('Some agent');
  const { page } = await running.open();
  await page.goto(url);
  const answer = await answerAfter(page, () => page.getByRole('button', { name: 'Deny' }).click());
  expect(answer.get('error')).toBe('access_denied');
});

test('cannot be allowed with an invalid budget or without a scope', async () => {
  const { url } = await startAs('Some agent');
  const { page, requested } = await running.open();
  await page.goto(url);
  await page.getByLabel('Daily budget').fill('lots');
  await page.getByRole('alert').getByText('Enter an amount above 0').waitFor();
  await allow(page).click();
  await page.getByLabel('Daily budget').fill('');
  for (const scope of await page.getByRole('checkbox').all()) await scope.uncheck();
  await page.getByRole('alert').getByText('Choose at least one').waitFor();
  await allow(page).click();
  expect(requested.filter((one) => one.endsWith('/decision'))).toEqual([]);
});

test('shows the name of a program as text, and the page is accessible', async () => {
  const name = '<b>Earshot</b> support\u202e';
  const { url } = await startAs(name);
  const { page } = await running.open();
  await page.goto(url);
  await heading(page, '<b>Earshot</b> support').waitFor();
  expect(await page.locator('main b').count()).toBe(0);
  expect(await page.getByText('\u202e').count()).toBe(0);
  expect(await findFlaws(page)).toEqual([]);
});

test('a request that was started in another browser cannot be allowed', async () => {
  const { url } = await startAs('Some agent');
  const { page: first } = await running.open();
  await first.goto(url);
  await heading(first, 'Some agent').waitFor();
  const { page } = await running.open();
  await page.goto(first.url());
  await page.getByRole('alert').getByText('Start again in the program').waitFor();
  expect(await allow(page).count()).toBe(0);
});

test('the user can switch to another account without a new request', async () => {
  const { url } = await startAs('Some agent');
  const other = await running.world.newAccount('Another account');
  const { page } = await running.open();
  await page.goto(url);
  await page.getByRole('button', { name: 'Use another account' }).click();
  await page.getByLabel('API key').fill(other.key);
  await page.keyboard.press('Enter');
  await heading(page, 'Some agent').waitFor();
  expect(await page.getByText('Another account', { exact: true }).count()).toBe(1);
});
