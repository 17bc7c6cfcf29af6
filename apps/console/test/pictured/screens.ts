import type { Page } from 'playwright-core';
import {
  emptyAnswers,
  type FixedAnswers,
  failingAnswers,
  fullAnswers,
  readOnlyAnswers,
  silentAnswers,
  waitingAnswers,
} from './answers.ts';
import { olderMatch } from './matches.ts';
import { ruleIds } from './rules.ts';
import { webhookId } from './webhooks.ts';

export interface PicturedScreen {
  readonly name: string;
  readonly path: string;
  readonly answers: FixedAnswers;
  /** The text that appears last. */
  readonly words: string | RegExp;
  /** Runs before the picture is taken. */
  readonly act?: (page: Page) => Promise<void>;
  /** Also stores a picture in dark, for screens with special colours. */
  readonly inDark?: true;
  /** Checks the screen without a stored picture. */
  readonly isOnlyChecked?: true;
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

const onlyChecked = (screen: PicturedScreen): PicturedScreen => ({ ...screen, isOnlyChecked: true });
const inDark = (screen: PicturedScreen): PicturedScreen => ({ ...screen, inDark: true });

export const withData: readonly PicturedScreen[] = [
  inDark(full('feed', `/feed?peek=mat_01kb2mj3s6d9f2g5h8k1m4n701`, 'own evaluation of the rule agrees')),
  onlyChecked(
    full('older-match', `/feed?peek=${olderMatch.id}`, 'An older', async (page) => {
      await page.getByRole('button', { name: 'Copy link' }).waitFor();
    }),
  ),
  onlyChecked({
    ...full(
      'feed-read-only',
      `/feed?peek=mat_01kb2mj3s6d9f2g5h8k1m4n704`,
      /^Your key has no matches:label scope/,
      async (page) => {
        for (const name of [
          'Relevant +',
          'Not relevant -',
          'Mute author',
          'Add as example that must not match',
        ])
          await page.getByRole('button', { name, exact: true, disabled: true }).waitFor();
      },
    ),
    answers: readOnlyAnswers,
  }),
  full(
    'feed-stories',
    '/feed?group=story&peek=mat_01kb2mj3s6d9f2g5h8k1m4n700',
    'has the same text',
    async (page) => {
      await page.getByRole('heading', { name: 'Story: 7 items' }).scrollIntoViewIfNeeded();
    },
  ),
  full('rules', '/rules', 'Autumn campaign'),
  inDark(
    full('editor', `/rules/${ruleIds.release}`, 'Registered as', async (page) => {
      await page.getByRole('button', { name: 'Add an example that must not match' }).waitFor();
      await press('Preview')(page);
      await page.getByText('840 of 1,043 stored items match').waitFor();
      await page.evaluate(`document.querySelector('main').scrollTo(0, 0)`);
    }),
  ),
  inDark(full('coverage', `/coverage?rule=${ruleIds.advisories}`, 'Disconnected since')),
  full('sources', '/sources', 'CreditsDepleted'),
  inDark(full('cost', '/cost', 'before, because more arrive')),
  full('notices', '/notices?show=all', 'A rule suddenly gets more matches'),
  full('webhooks', '/webhooks', 'warehouse'),
  full('deliveries', `/webhooks/${webhookId}`, 'Send again from here …', (page) =>
    page.locator('main button[aria-expanded]').first().click(),
  ),
  full('keys', '/keys', 'your key'),
  full('audit', '/audit', 'your key', (page) => page.locator('summary').nth(2).click()),
];

export const empties: readonly PicturedScreen[] = [
  empty('feed', '/feed', 'There are no rules yet.'),
  { ...empty('feed', '/feed', 'Nothing has matched yet.'), name: 'feed-silent', answers: silentAnswers },
  empty('rules', '/rules', 'There are no rules yet.'),
  empty('editor', '/rules/new', 'Add an example that must match'),
  empty('coverage', '/coverage', 'There are no rules yet.'),
  empty('sources', '/sources', 'There are no sources.'),
  empty('cost', '/cost', 'so no cost'),
  empty('notices', '/notices', 'There are no open notices.'),
  empty('webhooks', '/webhooks', 'There are no webhooks yet.'),
  empty('audit', '/audit', 'No changes yet.'),
  { ...empty('not-found', '/rules/a/b', 'The page does not exist.'), name: 'not-found' },
  { ...empty('all-notices', '/notices?show=all', 'There are no notices, or'), isOnlyChecked: true },
  onlyChecked(empty('match', '/feed?peek=mat_unknown', 'The match does not exist')),
  { ...empty('webhook', '/webhooks/whk_unknown', 'The webhook does not exist.'), isOnlyChecked: true },
  { ...empty('rule', '/rules/rule_unknown', 'The rule does not exist.'), isOnlyChecked: true },
  {
    ...full('audit-filtered', '/audit?target=nothing', 'No loaded entry matches the filter.'),
    isOnlyChecked: true,
  },
];

/** Screens that load data, with the text that they show while loading. */
const loading = {
  feed: 'Loading',
  rules: 'Loading',
  [`rules/${ruleIds.release}`]: 'Loading',
  coverage: 'Loading the coverage',
  sources: 'Loading the sources',
  cost: 'Loading the costs',
  notices: 'Loading the notices',
  webhooks: 'Loading the webhooks',
  [`webhooks/${webhookId}`]: 'Loading the webhooks',
  keys: 'Loading the keys',
  audit: 'Loading the audit log',
};

export const waiting: readonly PicturedScreen[] = Object.entries(loading).map(([path, words]) => ({
  name: `${path}-waiting`,
  path: `/${path}`,
  answers: waitingAnswers,
  words,
  ...(path !== 'coverage' && { isOnlyChecked: true }),
}));

export const failing: readonly PicturedScreen[] = Object.keys(loading).map((path) => ({
  name: `${path}-failing`,
  path: `/${path}`,
  answers: failingAnswers,
  words: 'Earshot has failed.',
  act: (page) => page.getByRole('button', { name: 'Try again' }).first().waitFor(),
  ...(path !== 'rules' && path !== 'cost' && { isOnlyChecked: true }),
}));

export const dialogs: readonly PicturedScreen[] = [
  full('new-key', '/keys', 'your key', press('New key')),
  full('revoke-key', '/keys', 'your key', press(/^Revoke esk_4f9K/)),
  full('new-webhook', '/webhooks', 'warehouse', press('New webhook')),
  full('replay', `/webhooks/${webhookId}`, 'Send again from here …', press('Replay from …')),
  full('test-webhook', `/webhooks/${webhookId}`, 'Send again from here …', press('Test')),
  full('plan', `/rules/${ruleIds.release}`, 'Registered as', async (page) => {
    await page.getByLabel('Name').fill('Rust releases');
    await page.getByLabel('Amount of the budget').fill('10');
    await press('Save …')(page);
    await page.getByRole('dialog').waitFor();
  }),
  full('delete-rule', '/rules', 'Autumn campaign', press(/^Delete Rust/)),
  ...[
    full('rotate-secret', `/webhooks/${webhookId}`, 'Send again from here …', press('Rotate secret …')),
    full('delete-webhook', `/webhooks/${webhookId}`, 'Send again from here …', press('Delete …')),
    full('new-feed', '/webhooks', 'Releases for the team', press('New feed')),
    full('feed-created', '/webhooks', 'Releases for the team', async (page) => {
      await press('New feed')(page);
      await page.getByLabel('Name').fill('Releases');
      await press('Create')(page);
      await page.getByText('/feeds/esf_').first().waitFor();
    }),
    full('send-again', `/webhooks/${webhookId}`, 'Send again from here …', press(/^Send again from here/)),
  ].map((screen) => ({ ...screen, isOnlyChecked: true }) as const),
  full('shortcuts', '/feed', 'release day', (page) => page.keyboard.press('?')),
];
