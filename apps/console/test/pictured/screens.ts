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
  /** What is done before it is looked at. */
  readonly act?: (page: Page) => Promise<void>;
  /** A picture in dark is kept too: of what has colours of its own. */
  readonly inDark?: true;
  /** It is only checked: no picture of it is kept. */
  readonly isUnkept?: true;
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

/** The others are drawn in the same few colours. */
const inDark = (screen: PicturedScreen): PicturedScreen => ({ ...screen, inDark: true });

export const withData: readonly PicturedScreen[] = [
  inDark(full('feed', `/feed?peek=mat_01kb2mj3s6d9f2g5h8k1m4n701`, 'Our own reading of the rule agrees')),
  full('rules', '/rules', 'Autumn campaign'),
  inDark(
    full('editor', `/rules/${ruleIds.release}`, 'Registered as', async (page) => {
      await press('Preview')(page);
      await page.getByText('840 of 1,043 stored items match').waitFor();
      await page.evaluate(`document.querySelector('main').scrollTo(0, 0)`);
    }),
  ),
  inDark(full('coverage', `/coverage?rule=${ruleIds.advisories}`, 'Not heard since')),
  full('sources', '/sources', 'CreditsDepleted'),
  inDark(full('cost', '/cost', 'early, because that much')),
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
  { ...empty('all-notices', '/notices?show=all', 'There are no notices yet'), isUnkept: true },
  { ...empty('webhook', '/webhooks/whk_unknown', 'There is no such webhook.'), isUnkept: true },
  { ...empty('rule', '/rules/rule_unknown', 'There is no such rule.'), isUnkept: true },
  {
    ...full('audit-filtered', '/audit?target=nothing', 'No loaded entry matches the filter.'),
    isUnkept: true,
  },
];

/** What reads when it is opened, and what it says meanwhile. */
const reading = {
  feed: 'Loading',
  rules: 'Loading',
  [`rules/${ruleIds.release}`]: 'Loading',
  coverage: 'Reading the coverage',
  sources: 'Asking the sources',
  cost: 'Adding up',
  notices: 'Reading the notices',
  webhooks: 'Reading the webhooks',
  [`webhooks/${webhookId}`]: 'Reading the webhooks',
  keys: 'Reading the keys',
  audit: 'Reading the audit',
};

export const waiting: readonly PicturedScreen[] = Object.entries(reading).map(([path, words]) => ({
  name: `${path}-waiting`,
  path: `/${path}`,
  answers: waitingAnswers,
  words,
  ...(path !== 'coverage' && { isUnkept: true }),
}));

export const failing: readonly PicturedScreen[] = Object.keys(reading).map((path) => ({
  name: `${path}-failing`,
  path: `/${path}`,
  answers: failingAnswers,
  words: 'It broke.',
  act: (page) => page.getByRole('button', { name: 'Try again' }).first().waitFor(),
  ...(path !== 'rules' && path !== 'cost' && { isUnkept: true }),
}));

export const dialogs: readonly PicturedScreen[] = [
  full('new-key', '/keys', 'signed in with it', press('New key')),
  full('revoke-key', '/keys', 'signed in with it', press(/^Revoke esk_4f9K/)),
  full('new-webhook', '/webhooks', 'warehouse', press('New webhook')),
  full('replay', `/webhooks/${webhookId}`, 'Send again from here …', press('Replay from …')),
  full('test-webhook', `/webhooks/${webhookId}`, 'Send again from here …', press('Test')),
  full('plan', `/rules/${ruleIds.release}`, 'Registered as', async (page) => {
    await page.getByLabel('Name').fill('Rust releases');
    await page.getByLabel('Amount of the budget').fill('10');
    await press('Save …')(page);
  }),
  full('delete-rule', '/rules', 'Autumn campaign', press(/^Delete Rust/)),
  ...[
    full('rotate-secret', `/webhooks/${webhookId}`, 'Send again from here …', press('Rotate secret …')),
    full('delete-webhook', `/webhooks/${webhookId}`, 'Send again from here …', press('Delete …')),
    full('send-again', `/webhooks/${webhookId}`, 'Send again from here …', press(/^Send again from here/)),
  ].map((screen) => ({ ...screen, isUnkept: true }) as const),
  full('shortcuts', '/feed', 'release day', (page) => page.keyboard.press('?')),
];
