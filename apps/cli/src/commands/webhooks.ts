import { allPlatforms as platforms } from '@earshot/contract/platforms';
import type { Answers } from '@earshot/sdk';
import { apiCommand } from '../api-command.ts';
import type { CommandGroup } from '../command.ts';
import {
  cursor,
  groupBy,
  integer,
  listOf,
  oneOf,
  pageLimit,
  platformFilter,
  relevanceFilter,
  required,
  ruleFilters,
  rulesText,
  text,
  webhookId,
} from '../options.ts';
import type { Screen } from '../output/screen.ts';
import { renderFields, renderTable, withMore } from '../output/table.ts';
import { shortTime } from '../output/times.ts';
import { deliveries, replay, testWebhook } from './webhooks-deliveries.ts';

type Webhook = Answers['UpdateWebhook'];

const events = listOf(['matches', 'notices'], 'matches, notices or both (default matches)', '<events>');

const format = oneOf(
  ['standard', 'cloudevents', 'slack', 'discord', 'teams'],
  'for a program (default standard), or for the chat of the URL',
);
const window = integer('<seconds>', 'at most one message in this time (default 1, of a chat 60)', {
  min: 0,
  max: 86_400,
});

const maxMatches = integer('<n>', 'the most matches in one message (default 100)', { min: 1, max: 100 });

const list = apiCommand({
  name: 'list',
  summary: 'list webhooks and their state',
  options: { limit: pageLimit, cursor },
  examples: ['earshot webhooks list'],
  doing: 'Listing webhooks',
  call: (earshot, { options }) => earshot.listWebhooks(options),
  show: ({ webhooks: found, next_cursor }, screen) => {
    const headings = [
      'ID',
      'STATE',
      'FORMAT',
      'RULES',
      'PLATFORM',
      'FAILING SINCE',
      'NEXT ATTEMPT',
      'NAME',
      'URL',
    ];
    const rows = found.map((one) => [
      one.id,
      stateText(one),
      one.format,
      rulesText(one.rule_ids),
      one.platform ?? 'any',
      shortTime(one.failing_since),
      shortTime(one.next_attempt_at),
      one.name,
      one.url,
    ]);
    return withMore(renderTable(headings, rows, screen), next_cursor, 'earshot webhooks list');
  },
});

const create = apiCommand({
  name: 'create',
  summary: 'post new matches to a URL, signed, or to a chat',
  options: {
    name: required(text('<name>', 'unique name in the account')),
    url: required(text('<url>', 'URL to post to')),
    rule: ruleFilters,
    platform: platformFilter,
    relevance: relevanceFilter,
    group: groupBy,
    events,
    format,
    window,
    'max-matches': maxMatches,
  },
  examples: [
    'earshot webhooks create --name pager --url https://example.com/earshot --platform x',
    'earshot webhooks create --name team --url https://hooks.slack.com/services/… --format slack',
  ],
  doing: 'Creating the webhook',
  call: (earshot, { options: { rule, window: window_seconds, 'max-matches': max_matches, ...rest } }) =>
    earshot.createWebhook({ rule_ids: rule, window_seconds, max_matches, ...rest }),
  show: ({ webhook_id, secret, format: chosen }) =>
    [
      isChat(chosen) ? 'The webhook is created.' : secretText(secret),
      '',
      `Its id is ${webhook_id}. Try it: earshot webhooks test ${webhook_id}`,
    ].join('\n'),
});

const update = apiCommand({
  name: 'update',
  summary: 'change, pause or enable a webhook; it continues where it stopped',
  options: {
    name: text('<name>', 'new name'),
    url: text('<url>', 'new URL'),
    rule: { ...ruleFilters, placeholder: '<rule id|any>', format: '`any` for every rule' },
    platform: oneOf([...platforms, 'any'], 'only this platform, or `any`'),
    relevance: relevanceFilter,
    events,
    format,
    window,
    'max-matches': maxMatches,
    state: oneOf(['active', 'paused'], '`active` also enables a webhook that was disabled'),
  },
  args: { webhook: webhookId },
  examples: [
    'earshot webhooks update whk_01kb2m9x4c7q5t8w3y6z1v0n2p --state paused',
    'earshot webhooks update whk_01kb2m9x4c7q5t8w3y6z1v0n2p --platform any',
  ],
  doing: 'Changing the webhook',
  call: (
    earshot,
    { args, options: { rule, platform, window: window_seconds, 'max-matches': max_matches, ...rest } },
  ) =>
    earshot.updateWebhook({
      webhook_id: args.webhook,
      ...rest,
      window_seconds,
      max_matches,
      ...(rule !== undefined && { rule_ids: rule[0] === 'any' ? null : rule }),
      ...(platform !== undefined && { platform: platform === 'any' ? null : platform }),
    }),
  show: webhookText,
});

const retry = apiCommand({
  name: 'retry',
  summary: 'retry a failing webhook now, instead of at its next attempt',
  details: 'A paused or disabled webhook becomes active.',
  args: { webhook: webhookId },
  examples: ['earshot webhooks retry whk_01kb2m9x4c7q5t8w3y6z1v0n2p'],
  doing: 'Requesting an attempt',
  call: (earshot, { args }) => earshot.updateWebhook({ webhook_id: args.webhook, state: 'active' }),
  show: webhookText,
});

const remove = apiCommand({
  name: 'delete',
  summary: 'delete a webhook',
  args: { webhook: webhookId },
  examples: ['earshot webhooks delete whk_01kb2m9x4c7q5t8w3y6z1v0n2p --yes'],
  doing: 'Deleting the webhook',
  confirm: ({ args }) => `Delete ${args.webhook}? It gets no more matches.`,
  call: (earshot, { args }) => earshot.deleteWebhook({ webhook_id: args.webhook }),
  show: ({ webhook_id }) => `${webhook_id} is deleted.`,
});

const rotateSecret = apiCommand({
  name: 'rotate-secret',
  summary: 'rotate a webhook secret; for 24 hours, messages are signed with both',
  args: { webhook: webhookId },
  examples: ['earshot webhooks rotate-secret whk_01kb2m9x4c7q5t8w3y6z1v0n2p'],
  doing: 'Rotating the secret',
  call: (earshot, { args }) => earshot.rotateWebhookSecret({ webhook_id: args.webhook }),
  show: ({ secret, previous_expires_at }) =>
    [
      secretText(secret),
      `Messages are also signed with the previous one until ${shortTime(previous_expires_at)}.`,
    ].join('\n'),
});

/** Messages for a chat have no signature. */
function isChat(given: Webhook['format']): boolean {
  return given === 'slack' || given === 'discord' || given === 'teams';
}

function secretText(secret: string | null): string {
  if (secret === null) return 'A repeated answer does not have the secret. Rotate it.';
  return `${secret}\n\nStore this secret now. It is not shown again. It proves that a message comes from Earshot.`;
}

function stateText({ state, reason }: Webhook): string {
  return reason === null ? state : `${state} (${reason})`;
}

function webhookText(webhook: Webhook, screen: Screen): string {
  return renderFields(
    [
      ['id', webhook.id],
      ['name', webhook.name],
      ['url', webhook.url],
      ['format', webhook.format],
      ['window', `${webhook.window_seconds} s`],
      ['state', stateText(webhook)],
      ['rules', rulesText(webhook.rule_ids)],
      ['platform', webhook.platform ?? 'any'],
      ['relevance', webhook.relevance],
      ['group', webhook.group],
      ['events', webhook.events.join(', ')],
      ['failing since', webhook.failing_since && shortTime(webhook.failing_since)],
      ['next attempt', webhook.next_attempt_at && shortTime(webhook.next_attempt_at)],
    ],
    screen,
  );
}

export const webhooks: CommandGroup = {
  name: 'webhooks',
  summary: 'push matches to a URL',
  commands: [list, create, update, retry, remove, rotateSecret, testWebhook, deliveries, replay],
};
