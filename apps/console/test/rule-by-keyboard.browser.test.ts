import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Console, startConsole, tabTo } from './console-page.ts';

let running: Console;
beforeAll(async () => {
  running = await startConsole();
});
afterAll(() => running?.[Symbol.asyncDispose]());

test('a rule from nothing by keyboard alone: wrong, fixed, previewed, budgeted, created, seen, paused, deleted', async () => {
  const { page, problems } = await running.open({ signedIn: false });
  const type = (text: string) => page.keyboard.type(text);
  const press = (...keys: string[]) =>
    keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve());
  const button = (name: string) => page.getByRole('button', { name, exact: true });

  await tabTo(page, page.getByLabel('API key'));
  await type(running.account.key);
  await press('Enter');
  await page.getByText('There is no rule yet.').waitFor();

  await press('g', 'r');
  await page.getByRole('link', { name: 'Write the first rule' }).waitFor();
  await press('n');
  await tabTo(page, page.getByLabel('Name', { exact: true }));
  await type('Northlight');
  await press('Tab');
  await type('Hear of northlight');
  const value = page.getByRole('textbox', { name: 'Value on X' });
  await tabTo(page, value);
  await type('northlight lantern -is:retwet');
  await press('Escape');
  await tabTo(page, button('Write is:retweet'));
  await press('Enter');
  await expect.poll(() => value.textContent()).toBe('northlight lantern -is:retweet');

  await tabTo(page, page.getByLabel('Amount of the budget'));
  await type('5');
  await tabTo(page, button('Preview'));
  await press('Enter');
  await page.getByText('Matches a day').waitFor();
  await tabTo(page, button('Save …'));
  await press('Enter');
  await page.getByText('$5 a day, then it is paused').waitFor();
  await tabTo(page, button('Create'));
  await press('Enter');

  await page.waitForURL(/\/feed\?rule=rule_/);
  await page.getByText('Live', { exact: true }).waitFor();
  await running.world.sandbox.posts(['A northlight lantern, at last']);
  await page.locator('mark', { hasText: 'lantern' }).first().waitFor();
  await press('j');
  await page.getByRole('complementary', { name: 'The match' }).getByText('Why').waitFor();
  expect(page.url()).toContain('peek=mat_');
  await press('Escape');

  await press('g', 'r');
  await tabTo(page, button('Pause Northlight'));
  await press('Enter');
  await button('Resume Northlight').waitFor();
  await tabTo(page, button('Delete Northlight'));
  await press('Enter');
  await tabTo(page, button('Delete the rule'));
  await press('Enter');
  await page.getByText('There is no rule yet.').waitFor();
  expect(problems).toEqual([]);
});
