import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Console, startConsole, tabTo } from './console-page.ts';

let running: Console;
beforeAll(async () => {
  running = await startConsole();
});
afterAll(() => running?.[Symbol.asyncDispose]());

/** Publishes a post by this author. */
async function publish(text: string, username: string): Promise<void> {
  const body = JSON.stringify({ posts: [{ text, author: { username } }] });
  const headers = { 'content-type': 'application/json' };
  const url = new URL('/sandbox/x/posts', running.world.sandbox.url);
  const { status } = await fetch(url, { method: 'POST', headers, body });
  expect(status).toBe(200);
}

test('a user creates, fixes, previews, budgets, follows, labels, mutes, pauses and deletes a rule by keyboard', async () => {
  const { page, problems } = await running.open({ signedIn: false });
  const type = (text: string) => page.keyboard.type(text);
  const press = (...keys: string[]) =>
    keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve());
  const button = (name: string) => page.getByRole('button', { name, exact: true });

  await tabTo(page, page.getByLabel('API key'));
  await type(running.account.key);
  await press('Enter');
  await page.getByText('There are no rules yet.').waitFor();

  await press('g', 'r');
  await page.getByRole('link', { name: 'Create the first rule' }).waitFor();
  await press('n');
  await tabTo(page, page.getByLabel('Name', { exact: true }));
  await type('Northlight');
  await press('Tab');
  await type('Follow northlight');
  await page.goBack();
  await page.getByRole('link', { name: 'Create the first rule' }).waitFor();
  await page.goForward();
  await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe('Northlight');
  const query = page.getByRole('textbox', { name: 'Query on X' });
  await tabTo(page, query);
  await type('northlight lantern -is:retwet');
  await press('Escape');
  await tabTo(page, button('Write is:retweet'));
  await press('Enter');
  await expect.poll(() => query.textContent()).toBe('northlight lantern -is:retweet');

  await tabTo(page, page.getByLabel('Amount of the budget'));
  await type('5');
  await tabTo(page, button('Preview'));
  await press('Enter');
  await page.getByText('Matches per day').waitFor();
  await tabTo(page, button('Save …'));
  await press('Enter');
  await page.getByText('$5 per day, then the rule is paused').waitFor();
  await tabTo(page, button('Create'));
  await press('Enter');

  await page.waitForURL(/\/feed\?rule=rule_/);
  await page.getByText('Live', { exact: true }).waitFor();
  await publish('A northlight lantern, at last', 'ferris');
  await page.locator('mark', { hasText: 'lantern' }).first().waitFor();
  await press('j');
  await page.getByRole('complementary', { name: 'The match' }).getByText('Why').waitFor();
  expect(page.url()).toContain('peek=mat_');

  const row = page.getByRole('listitem').filter({ hasText: 'at last' });
  const isPressed = (name: string, pressed: boolean) =>
    page.getByRole('button', { name, exact: true, pressed }).waitFor();
  await press('+');
  await isPressed('Relevant +', true);
  await press('+');
  await isPressed('Relevant +', false);
  await press('-');
  await isPressed('Not relevant -', true);
  await row.getByText('not relevant', { exact: true }).waitFor();
  await press('+');
  await isPressed('Relevant +', true);
  await tabTo(page, button('Add as example that must match'));
  await press('Enter');
  await button('Added as example that must match').waitFor();
  await tabTo(page, button('Mute author'));
  await press('Enter');
  await page.getByText('-from:ferris').waitFor();
  await publish('A northlight lantern that is muted', 'ferris');
  await page.getByText('1 hidden: 1 muted.').waitFor();
  expect(await button('+1 new').count()).toBe(0);
  await tabTo(page, button('Show them'), 'Shift+Tab');
  await press('Enter');
  await page.getByText('Listed too: 2 muted.').waitFor();
  await row.getByText('muted', { exact: true }).waitFor();
  await tabTo(page, button('Unmute'));
  await press('Enter');
  await row.getByText('muted', { exact: true }).waitFor({ state: 'detached' });
  // The button has kept the focus, and mutes again.
  await press('Enter');
  await row.getByText('muted', { exact: true }).waitFor();
  await tabTo(page, page.getByRole('link', { name: 'Northlight', exact: true }), 'Shift+Tab');
  await press('Enter');
  await page.getByText('1 relevant, 0 not relevant.').waitFor();
  await tabTo(page, button('Delete the mute of ferris'), 'Shift+Tab');
  await press('Enter');
  await page.getByText('No author, site or phrase is muted.').waitFor();
  await press('Escape');

  await press('g', 'r');
  await tabTo(page, button('Pause Northlight'));
  await press('Enter');
  await button('Resume Northlight').waitFor();
  await tabTo(page, button('Delete Northlight'));
  await press('Enter');
  await tabTo(page, button('Delete the rule'));
  await press('Enter');
  await page.getByText('There are no rules yet.').waitFor();
  expect(problems).toEqual([]);
});
