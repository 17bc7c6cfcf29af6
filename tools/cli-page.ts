import { type Command, type CommandGroup, isGroup, type Option } from '../apps/cli/src/command.ts';
import { earshotCommands } from '../apps/cli/src/commands.ts';
import { exitCodes } from '../apps/cli/src/failure.ts';
import { commonOptions } from '../apps/cli/src/options.ts';
import { sentence } from '../apps/cli/src/program.ts';

/** An option or argument that so many commands describe in the same words is listed once for all of them. */
const sharedBy = 3;
/** `--help` shows the others. */
const examplesMax = 2;

interface Row {
  readonly term: string;
  readonly about: string;
}

interface Section {
  readonly name: string;
  readonly command: Command;
  readonly rows: readonly Row[];
}

/** docs/cli.md, from the table that the command line parses with. */
export function renderCliPage(): string {
  const sections = sectionsOf(earshotCommands, earshotCommands.name);
  const shared = sharedLines(sections.flatMap(({ rows }) => rows));
  return [
    '# The command line',
    '',
    '`npx earshot login` stores the address of a server and a key in `$XDG_CONFIG_HOME/earshot/connection.json` (otherwise below `~/.config`), for its owner only.',
    'The variables `EARSHOT_URL` and `EARSHOT_API_KEY` take precedence. In the repository, use `./dev earshot`. `demo`, `services` and `admin` work only there,',
    'and `admin` also in the image.',
    '',
    '`earshot` has a command for every operation of the API except `UpdateDigest` and `WhoAmI`. Results go to stdout, everything else to stderr.',
    '',
    '## Shared arguments and options',
    '',
    'Every command has `--json`, `--no-color` and `--help`. `earshot admin` commands that change something need the database login that owns the tables.',
    '',
    ...rowsOf(commonOptions(), '--').map(lineOf),
    ...formatsOf(earshotCommands),
    ...shared,
    '',
    '## Exit codes',
    '',
    '| Code | Meaning |',
    '|---|---|',
    ...Object.values(exitCodes).map(({ code, about }) => `| ${code} | ${about} |`),
    '',
    'With `--json` an error is `{ code, message, details }` on stderr.',
    '',
    '## Commands',
    '',
    ...sections.flatMap((section) => renderSection(section, new Set(shared))),
  ].join('\n');
}

/** A term with several meanings is explained at each command. */
function sharedLines(rows: readonly Row[]): string[] {
  const all = rows.map(lineOf);
  const frequent = [...new Set(all)].filter((line) => all.filter((one) => one === line).length >= sharedBy);
  const termOf = (line: string) => line.split(':', 1)[0];
  return frequent.filter((line) => frequent.every((one) => one === line || termOf(one) !== termOf(line)));
}

function sectionsOf(group: CommandGroup, path: string): Section[] {
  return group.commands.flatMap((entry) => {
    const name = `${path} ${entry.name}`;
    if (isGroup(entry)) return sectionsOf(entry, name);
    const { aboutJson } = entry;
    const rows = [
      ...rowsOf(entry.args),
      ...rowsOf(entry.options, '--'),
      ...(aboutJson === undefined ? [] : [{ term: '--json', about: aboutJson }]),
    ];
    return [{ name, command: entry, rows }];
  });
}

function rowsOf(options: Readonly<Record<string, Option>>, prefix = ''): Row[] {
  return Object.entries(options).map(([name, { about, placeholder, isRequired }]) => {
    const value = placeholder ?? (prefix === '' ? `<${name}>` : '');
    const term = prefix === '' ? value : `${prefix}${name} ${value}`.trim();
    return { term, about: isRequired && prefix !== '' ? `${about} (required)` : about };
  });
}

/** The forms of values, such as times, each once. */
function formatsOf(group: CommandGroup): string[] {
  const options = group.commands.flatMap((entry): Option[] =>
    isGroup(entry) ? [] : [...Object.values(entry.args), ...Object.values(entry.options)],
  );
  const nested = group.commands.flatMap((entry) => (isGroup(entry) ? formatsOf(entry) : []));
  const own = options.flatMap(({ placeholder, format }) =>
    placeholder === undefined || format === undefined ? [] : [lineOf({ term: placeholder, about: format })],
  );
  return [...new Set([...own, ...nested])];
}

function renderSection({ name, command, rows }: Section, shared: ReadonlySet<string>): string[] {
  const { summary, details, examples } = command;
  const own = rows.map(lineOf).filter((line) => !shared.has(line));
  const others = rows.filter((row) => shared.has(lineOf(row))).map(({ term }) => shortTerm(term));
  // The name of a command, alone or with one argument, shows nothing new.
  const shown = examples
    .filter((example) => !example.startsWith(name) || / .* /.test(example.slice(name.length)))
    .slice(0, examplesMax);
  return [
    `### ${name}`,
    '',
    [sentence(summary), details].filter(Boolean).join(' '),
    '',
    ...(own.length === 0 ? [] : [...own, '']),
    ...(others.length === 0 ? [] : [`Shared: ${others.join(', ')}`, '']),
    ...(shown.length === 0 ? [] : ['```sh', ...shown, '```', '']),
  ];
}

function lineOf({ term, about }: Row): string {
  return `* \`${term}\`: ${about}`;
}

/** An option without the placeholder of its value. */
function shortTerm(term: string): string {
  return `\`${term.startsWith('--') ? term.replace(/ .*/, '') : term}\``;
}
