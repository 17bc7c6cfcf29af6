import { apiCommand } from '../api-command.ts';
import { type CommandGroup, command } from '../command.ts';
import {
  flag,
  groupBy,
  integer,
  cursor as listCursor,
  oneOf,
  pageLimit,
  platformFilter,
  relevanceFilter,
  required,
  ruleFilter,
  text,
} from '../options.ts';
import { matchesText } from '../output/matches-text.ts';
import { jsonLine, shellQuoted } from '../output/printable.ts';
import { renderTable, withMore } from '../output/table.ts';
import { shortTime } from '../output/times.ts';

const reader = required(text('<name>', 'name of the reader, chosen by you'));
/** Time for the request besides its wait for matches. */
const patienceMs = 15_000;

const list = apiCommand({
  name: 'list',
  summary: 'list the named readers of the account',
  options: { limit: pageLimit, cursor: listCursor },
  examples: ['earshot readers list'],
  doing: 'Listing readers',
  call: (earshot, { options }) => earshot.listReaders(options),
  show: ({ readers: found, next_cursor }, screen) => {
    const rows = found.map(({ name, rule_id, platform, created_at, acknowledged_at }) => [
      name,
      rule_id ?? 'any',
      platform ?? 'any',
      shortTime(created_at),
      shortTime(acknowledged_at),
    ]);
    const table = renderTable(['NAME', 'RULE', 'PLATFORM', 'CREATED', 'ACKNOWLEDGED'], rows, screen);
    return withMore(table, next_cursor, 'earshot readers list');
  },
});

const read = command({
  name: 'read',
  summary: 'read what a named reader has not acknowledged yet',
  details:
    'The first use creates the reader with its filter. The same matches are listed again until you acknowledge them.',
  options: {
    rule: ruleFilter,
    platform: platformFilter,
    relevance: relevanceFilter,
    group: groupBy,
    start: oneOf(['oldest', 'now'], 'where a new reader starts (default now)'),
    limit: integer('<n>', 'entries (default 50)', { min: 1, max: 100 }),
    wait: integer('<seconds>', 'wait this long for a match if there is none', { min: 0, max: 30 }),
    ack: flag('acknowledge them after they are printed'),
  },
  args: { reader },
  examples: ['earshot readers read morning-report --ack', 'earshot readers read agent-7 --wait 30 --json'],
  async run({ options, args }, { connect, isJson, screen }) {
    const { rule, wait = 0, ack, ...rest } = options;
    const earshot = await connect();
    const request = { reader: args.reader, rule_id: rule, wait_seconds: wait, ...rest };
    const reading = earshot.readMatches(request, { timeoutMs: wait * 1_000 + patienceMs });
    const answer = await screen.waitFor('Reading matches', reading);
    screen.print(isJson ? jsonLine(answer) : matchesText(answer, screen));
    const { cursor } = answer;
    if (cursor === null) return;
    if (ack) await earshot.ackMatches({ reader: args.reader, cursor });
    else if (!isJson)
      screen.note(`Acknowledge them: earshot readers ack ${shellQuoted(args.reader)} ${cursor}`);
  },
});

const ack = apiCommand({
  name: 'ack',
  summary: 'acknowledge matches up to a cursor',
  options: { rewind: flag('also move back, to read matches again; needs the scope readers:write') },
  args: { reader, cursor: required(text('<cursor>', '`cursor` of the matches')) },
  examples: ['earshot readers ack morning-report cOZaHcpf7tvEtWCXwSbisgjEyODk2ODoxMjkwMDA'],
  doing: 'Acknowledging',
  call: (earshot, { options, args }) => earshot.ackMatches({ ...args, rewind: options.rewind }),
  show: ({ reader: name, moved }) =>
    moved ? `${name} has moved.` : `${name} was already there, or further.`,
});

const remove = apiCommand({
  name: 'delete',
  summary: 'delete a reader and its position; matches are not affected',
  args: { reader },
  examples: ['earshot readers delete morning-report'],
  doing: 'Deleting the reader',
  confirm: ({ args }) => `Delete the reader ${args.reader} and its position?`,
  call: (earshot, { args }) => earshot.deleteReader(args),
  show: ({ reader: name }) => `${name} is deleted.`,
});

export const readers: CommandGroup = {
  name: 'readers',
  summary: 'named readers, whose positions the server stores',
  commands: [list, read, ack, remove],
};
