import type { Answers } from '@earshot/sdk';
import { apiCommand } from '../api-command.ts';
import type { CommandGroup } from '../command.ts';
import { usageFailure } from '../failure.ts';
import {
  cursor,
  groupBy,
  integer,
  oneOf,
  pageLimit,
  platformFilter,
  relevanceFilter,
  required,
  ruleFilters,
  rulesText,
  text,
} from '../options.ts';
import { renderTable, withMore } from '../output/table.ts';
import { shortTime } from '../output/times.ts';

type Digest = Answers['CreateDigest'];

const headings = [
  'ID',
  'SCHEDULE',
  'RULES',
  'PLATFORM',
  'RECIPIENTS',
  'NEXT',
  'LAST SENT',
  'NAME',
  'MESSAGE',
];

const list = apiCommand({
  name: 'list',
  summary: 'list digests, when each is due next, and why the latest message was not sent',
  options: { limit: pageLimit, cursor },
  examples: ['earshot digests list'],
  doing: 'Listing digests',
  call: (earshot, { options }) => earshot.listDigests(options),
  show: ({ digests: found, next_cursor }, screen) => {
    const rows = found.map((one) => [
      one.id,
      scheduleText(one),
      rulesText(one.rule_ids),
      one.platform ?? 'any',
      one.recipients.webhook_id ?? one.recipients.email?.join(', ') ?? '',
      shortTime(one.next_at),
      shortTime(one.last_sent_at),
      one.name,
      one.message ?? '',
    ]);
    return withMore(renderTable(headings, rows, screen), next_cursor, 'earshot digests list');
  },
});

const create = apiCommand({
  name: 'create',
  summary: 'send new matches together, on a schedule',
  details: 'Needs --cron or --every, and --webhook or --email.',
  options: {
    name: required(text('<name>', 'unique name in the account')),
    cron: text('<line>', 'five fields: minute, hour, day of the month, month, day of the week'),
    'time-zone': text('<zone>', 'time zone of --cron, such as Europe/Berlin (default UTC)'),
    every: integer('<seconds>', 'instead of --cron', { min: 30, max: 86_400 }),
    webhook: text('<webhook id>', 'recipient, as `earshot webhooks list` shows it'),
    email: text('<addresses>', 'instead of --webhook: up to ten addresses, separated by commas'),
    rule: ruleFilters,
    platform: platformFilter,
    relevance: relevanceFilter,
    group: groupBy,
    'min-matches': integer('<n>', 'wait until this many matches are waiting (default 1)', {
      min: 1,
      max: 10_000,
    }),
    'max-matches': integer('<n>', 'how many matches are shown (default 50)', { min: 1, max: 100 }),
    empty: oneOf(['skip', 'send'], 'what to do if nothing has matched (default skip)'),
  },
  examples: [
    'earshot digests create --name morning --cron "0 9 * * 1-5" --time-zone Europe/Berlin --email team@example.com --empty send',
    'earshot digests create --name batches --every 300 --webhook whk_01kb2m9x4c7q5t8w3y6z1v0n2p',
  ],
  doing: 'Creating the digest',
  call: (earshot, { options }) => {
    const { name, cron, every, webhook, email, rule, platform, relevance, group, empty } = options;
    if ((cron === undefined) === (every === undefined))
      throw usageFailure('Specify either --cron or --every.');
    if ((webhook === undefined) === (email === undefined))
      throw usageFailure('Specify either --webhook or --email.');
    return earshot.createDigest({
      name,
      rule_ids: rule,
      platform,
      relevance,
      group,
      schedule: { cron, time_zone: options['time-zone'], window_seconds: every },
      recipients: { webhook_id: webhook, email: email?.split(',').map((address) => address.trim()) },
      min_matches: options['min-matches'],
      max_matches: options['max-matches'],
      empty,
    });
  },
  show: ({ id, next_at }) => `${id} is created. Its first message is due at ${shortTime(next_at)}.`,
});

const remove = apiCommand({
  name: 'delete',
  summary: 'delete a digest; matches are not affected',
  args: { digest: required(text('<digest id>', 'as `earshot digests list` shows it')) },
  examples: ['earshot digests delete dig_01kb2m9x4c7q5t8w3y6z1v0n2p --yes'],
  doing: 'Deleting the digest',
  confirm: ({ args }) => `Delete ${args.digest}? It sends no more messages.`,
  call: (earshot, { args }) => earshot.deleteDigest({ digest_id: args.digest }),
  show: ({ digest_id }) => `${digest_id} is deleted.`,
});

function scheduleText({ schedule: { cron, time_zone, window_seconds } }: Digest): string {
  return cron === undefined ? `every ${window_seconds} s` : `${cron} ${time_zone}`;
}

export const digests: CommandGroup = {
  name: 'digests',
  summary: 'matches sent together, on a schedule',
  commands: [list, create, remove],
};
