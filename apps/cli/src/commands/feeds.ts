import { apiCommand } from '../api-command.ts';
import type { CommandGroup } from '../command.ts';
import {
  cursor,
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

const list = apiCommand({
  name: 'list',
  summary: 'list feeds, without their URLs',
  options: { limit: pageLimit, cursor },
  examples: ['earshot feeds list'],
  doing: 'Listing feeds',
  call: (earshot, { options }) => earshot.listFeeds(options),
  show: ({ feeds: found, next_cursor }, screen) => {
    const headings = ['ID', 'RULES', 'PLATFORM', 'RELEVANCE', 'WORDS', 'EXPIRES', 'LAST READ', 'NAME'];
    const rows = found.map((one) => [
      one.id,
      rulesText(one.rule_ids),
      one.platform ?? 'any',
      one.relevance,
      one.query ?? '',
      shortTime(one.expires_at),
      shortTime(one.last_read_at),
      one.name,
    ]);
    return withMore(renderTable(headings, rows, screen), next_cursor, 'earshot feeds list');
  },
});

const create = apiCommand({
  name: 'create',
  summary: 'create secret URLs of the newest matches, for feed readers',
  options: {
    name: required(text('<name>', 'title of the feed, unique in the account')),
    rule: ruleFilters,
    platform: platformFilter,
    relevance: relevanceFilter,
    query: text('<words>', 'only items that contain all these words'),
  },
  examples: ['earshot feeds create --name Earthquakes --rule rule_01kb2m9x4c7q5t8w3y6z1v0n2p'],
  doing: 'Creating the feed',
  call: (earshot, { options: { rule, ...options } }) => earshot.createFeed({ ...options, rule_ids: rule }),
  show: ({ feed_id, atom_url, json_url }) =>
    atom_url === null || json_url === null
      ? `${feed_id} is created. A repeated answer does not have its URLs: delete the feed and create another one.`
      : [
          `Atom       ${atom_url}`,
          `JSON Feed  ${json_url}`,
          '',
          'Store these URLs now. They are not shown again, and need no key: treat them as secrets.',
          ...(atom_url.startsWith('/') ? ['They are paths of this server.'] : []),
          `To revoke them: earshot feeds delete ${feed_id}`,
        ].join('\n'),
});

const remove = apiCommand({
  name: 'delete',
  summary: 'delete a feed and revoke its URLs; matches are not affected',
  args: { feed: required(text('<feed id>', 'as `earshot feeds list` shows it')) },
  examples: ['earshot feeds delete feed_01kb2m9x4c7q5t8w3y6z1v0n2p --yes'],
  doing: 'Deleting the feed',
  confirm: ({ args }) => `Delete ${args.feed}? Its URLs stop working at once.`,
  call: (earshot, { args }) => earshot.deleteFeed({ feed_id: args.feed }),
  show: ({ feed_id }) => `${feed_id} is deleted.`,
});

export const feeds: CommandGroup = {
  name: 'feeds',
  summary: 'secret URLs for feed readers',
  commands: [list, create, remove],
};
