import type { Page } from 'playwright-core';
import {
  emptyAnswers,
  type FixedAnswers,
  failingAnswers,
  fullAnswers,
  silentAnswers,
  waitingAnswers,
} from './answers.ts';
import { ruleIds } from './rules.ts';
import { webhookId } from './webhooks.ts';

export interface PicturedScreen {
  readonly name: string;
  readonly path: string;
  readonly answers: FixedAnswers;
  /** The last words that appear. */
  readonly words: string | RegExp;
  /** What is done before the picture is taken. */
  readonly act?: (page: Page) => Promise<void>;
}

const full = (name: string, path: string, words: string | RegExp, act?: PicturedScreen['act']) => ({
  name,
  path,
  answers: fullAnswers,
  words,
  ...(act && { act }),
});

const empty = (name: string, path: string, words: string | RegExp): PicturedScreen => ({
  name: `${name}-empty`,
  path,
  answers: emptyAnswers,
  words,
});

const press = (name: string | RegExp) => (page: Page) =>
  page
    .getByRole('button', { name, exact: typeof name === 'string' })
    .first()
    .click();

export const withData: readonly PicturedScreen[] = [
  full('feed', `/feed?peek=mat_01kb2mj3s6d9f2g5h8k1m4n701`, 'Our own reading of the rule agrees'),
  full('rules', '/rules', 'Autumn campaign'),
  full('editor', `/rules/${ruleIds.release}`, 'Registered as', async (page) => {
    await press('Preview')(page);
    await page.getByText('840 of 1,043 stored items match').waitFor();
    await page.evaluate(`document.querySelector('main').scrollTo(0, 0)`);
  }),
  full('coverage', `/coverage?rule=${ruleIds.advisories}`, 'Not heard since'),
  full('sources', '/sources', 'CreditsDepleted'),
  full('cost', '/cost', 'early, because that much'),
  full('notices', '/notices?show=all', 'Far more matches than usual'),
  full('webhooks', '/webhooks', 'warehouse'),
  full('deliveries', `/webhooks/${webhookId}`, 'Send again from here …', (page) =>
    page.locator('main button[aria-expanded]').first().click(),
  ),
  full('keys', '/keys', 'signed in with it'),
  full('audit', '/audit', 'your key', (page) => page.locator('summary').nth(2).click()),
];

export const empties: readonly PicturedScreen[] = [
  empty('feed', '/feed', 'There is no rule yet.'),
  { ...empty('feed', '/feed', 'Nothing has matched yet.'), name: 'feed-silent', answers: silentAnswers },
  empty('rules', '/rules', 'There is no rule yet.'),
  empty('editor', '/rules/new', 'Value on X'),
  empty('coverage', '/coverage', 'There is no rule yet.'),
  empty('sources', '/sources', 'There are no sources.'),
  empty('cost', '/cost', 'so nothing was spent'),
  empty('notices', '/notices', 'Nothing is open.'),
  empty('webhooks', '/webhooks', 'There is no webhook yet.'),
  empty('audit', '/audit', 'Nothing was changed yet.'),
  { ...empty('not-found', '/rules/a/b', 'There is no such page.'), name: 'not-found' },
];

export const waiting: readonly PicturedScreen[] = [
  { name: 'coverage-waiting', path: '/coverage', answers: waitingAnswers, words: 'Reading the coverage' },
];

export const failing: readonly PicturedScreen[] = [
  { name: 'rules-failing', path: '/rules', answers: failingAnswers, words: 'It broke.' },
  { name: 'cost-failing', path: '/cost', answers: failingAnswers, words: 'It broke.' },
];

export const dialogs: readonly PicturedScreen[] = [
  full('new-key', '/keys', 'signed in with it', press('New key')),
  full('revoke-key', '/keys', 'signed in with it', press(/^Revoke esk_4f9K/)),
  full('new-webhook', '/webhooks', 'warehouse', press('New webhook')),
  full('replay', `/webhooks/${webhookId}`, 'Send again from here …', press('Replay since …')),
  full('test-webhook', `/webhooks/${webhookId}`, 'Send again from here …', press('Test')),
  full('plan', `/rules/${ruleIds.release}`, 'Registered as', async (page) => {
    await page.getByLabel('Name').fill('Rust releases');
    await page.getByLabel('Amount of the budget').fill('10');
    await press('Save …')(page);
  }),
  full('delete-rule', '/rules', 'Autumn campaign', press(/^Delete Rust/)),
  full('shortcuts', '/feed', 'release day', (page) => page.keyboard.press('?')),
];
