import { apiCommand } from '../api-command.ts';
import { type CommandGroup, command } from '../command.ts';
import { flag, integer, oneOf, platformFilter, required, ruleFilter, text } from '../options.ts';
import { matchesText } from '../output/matches-text.ts';
import { jsonLine, shellQuoted } from '../output/printable.ts';
import { renderTable } from '../output/table.ts';
import { shortTime } from '../output/times.ts';

const reader = required(text('<name>', 'name of the reader, chosen by you'));
/** What a request may take beyond what it was asked to wait. */
const patienceMs = 15_000;

const list = apiCommand({
  name: 'list',
  summary: 'list the named readers of the account',
  examples: ['earshot readers list'],
  doing: 'Listing readers',
  ask: (earshot) => earshot.listReaders(),
  show: ({ readers: found }, screen) =>
    renderTable(
      ['NAME', 'RULE', 'PLATFORM', 'CREATED', 'ACKNOWLEDGED'],
      found.map(({ name, rule_id, platform, created_at, acknowledged_at }) => [
        name,
        rule_id ?? 'any',
        platform ?? 'any',
        shortTime(created_at),
        shortTime(acknowledged_at),
      ]),
      screen,
    ),
});

const read = command({
  name: 'read',
  summary: 'read what a named reader has not acknowledged yet',
  details:
    'A reader is made at its first use, with its filter; the server keeps how far it is. The same matches come again until they are acknowledged.',
  options: {
    rule: ruleFilter,
    platform: platformFilter,
    start: oneOf(['oldest', 'now'], 'where a new reader begins (default now)'),
    limit: integer('<n>', 'how many (default 50)', { min: 1, max: 100 }),
    wait: integer('<seconds>', 'wait this long for a match if there is none', { min: 0, max: 30 }),
    ack: flag('acknowledge them after they are printed'),
  },
  args: { reader },
  examples: ['earshot readers read morning-report --ack', 'earshot readers read agent-7 --wait 30 --json'],
  async run({ options, args }, { connect, isJson, screen }) {
    const { rule, wait = 0, ack, ...rest } = options;
    const earshot = await connect();
    const request = { reader: args.reader, rule_id: rule, wait_seconds: wait, ...rest };
    const asked = earshot.readMatches(request, { timeoutMs: wait * 1_000 + patienceMs });
    const answer = await screen.waitFor('Reading matches', asked);
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
  summary: 'move a reader behind the matches that came with a cursor',
  options: { rewind: flag('also go back, to read again what was acknowledged') },
  args: { reader, cursor: required(text('<cursor>', '`cursor` of what was read')) },
  examples: ['earshot readers ack morning-report c1.MTk4OTQ3MjUx.5b1f0c7e'],
  doing: 'Acknowledging',
  ask: (earshot, { options, args }) => earshot.ackMatches({ ...args, rewind: options.rewind }),
  show: ({ reader: name, moved }) => (moved ? `${name} is moved.` : `${name} was there already, or further.`),
});

const remove = apiCommand({
  name: 'delete',
  summary: 'forget a reader and how far it was; matches are not touched',
  args: { reader },
  examples: ['earshot readers delete morning-report'],
  doing: 'Deleting the reader',
  confirm: ({ args }) => `Delete the reader ${args.reader}? How far it was is then forgotten.`,
  ask: (earshot, { args }) => earshot.deleteReader(args),
  show: ({ reader: name }) => `${name} is deleted.`,
});

export const readers: CommandGroup = {
  name: 'readers',
  summary: 'read under a name; the server keeps the place',
  commands: [list, read, ack, remove],
};
