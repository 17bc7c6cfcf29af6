import { type Command, type CommandGroup, isGroup, type Options } from '../apps/cli/src/command.ts';
import { earshotCommands } from '../apps/cli/src/commands.ts';
import { exitCodes } from '../apps/cli/src/failure.ts';
import { aboutOf, argumentForm, optionForm, sentence, usageLine } from '../apps/cli/src/help.ts';
import { commonOptions } from '../apps/cli/src/parse-arguments.ts';

/** docs/cli.md, from the table that the command line parses with. */
export function renderCliPage(): string {
  return [
    '# The command line',
    '',
    '`earshot` can do everything that the API can. Start it with `npx earshot` from its package, or with `./dev earshot` or `pnpm earshot` in the repository; `pnpm build:cli` writes `earshot.mjs` to `dist`: one',
    'file that needs only Node 24. On another machine it has every command except those that start servers or open the database (`demo`,',
    '`services`, `admin`), which need the repository. This page is generated from `apps/cli/src/commands.ts` by `pnpm docs:write`.',
    '',
    '`earshot login` stores the address of a server and a key in `$XDG_CONFIG_HOME/earshot/connection.json` (otherwise below `~/.config`),',
    'for its owner only. The variables `EARSHOT_URL` and `EARSHOT_API_KEY` take precedence.',
    '',
    'Results go to stdout, everything else to stderr. Every command has:',
    '',
    ...optionTable(commonOptions({})),
    '',
    '## Exit codes',
    '',
    '| Code | Meaning |',
    '|---|---|',
    ...Object.values(exitCodes).map(({ code, about }) => `| ${code} | ${about} |`),
    '',
    'With `--json` an error is `{ code, message, details }` on stderr: the error of the API as it is, or one of the same shape if the',
    'request never reached the API.',
    '',
    '## Commands',
    '',
    ...commandsOf(earshotCommands, []),
  ].join('\n');
}

function commandsOf(group: CommandGroup, path: readonly string[]): string[] {
  return group.commands.flatMap((entry) => {
    const entryPath = [...path, entry.name];
    return isGroup(entry) ? commandsOf(entry, entryPath) : section(entry, entryPath);
  });
}

function section(command: Command, path: readonly string[]): string[] {
  const rows = [...argumentRows(command.args), ...optionRows(command.options)];
  const json = command.aboutJson === undefined ? [] : [`| \`--json\` | ${cell(command.aboutJson)} |`];
  return [
    `### earshot ${path.join(' ')}`,
    '',
    `\`${usageLine(command, path)}\``,
    '',
    sentence(command.summary),
    ...(command.details === undefined ? [] : ['', command.details]),
    '',
    ...(rows.length + json.length === 0 ? [] : ['| | |', '|---|---|', ...rows, ...json, '']),
    '```sh',
    ...command.examples,
    '```',
    '',
  ];
}

function optionTable(options: Options): string[] {
  return ['| | |', '|---|---|', ...optionRows(options)];
}

function optionRows(options: Options): string[] {
  return Object.entries(options).map(
    ([name, option]) => `| \`${cell(optionForm(name, option))}\` | ${cell(aboutOf(option))} |`,
  );
}

function argumentRows(args: Options): string[] {
  return Object.entries(args).map(
    ([name, option]) => `| \`${cell(argumentForm(name, option))}\` | ${cell(aboutOf(option))} |`,
  );
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
