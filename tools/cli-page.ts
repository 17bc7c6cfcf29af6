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
    '`earshot` does everything that the API does. From its package it is `npx earshot`, in the repository `./dev earshot` or `pnpm earshot`; `pnpm build:cli` writes `earshot.mjs` to `dist`: one',
    'file that needs nothing but Node 24. Copied to another machine it has every command but those that start or open servers (`demo`,',
    '`services`, `admin`), which need the repository. This page is generated from `apps/cli/src/commands.ts` by `pnpm docs:write`.',
    '',
    '`earshot login` stores the address of a server and a key in `$XDG_CONFIG_HOME/earshot/connection.json` (otherwise below `~/.config`),',
    'for its owner only. The variables `EARSHOT_URL` and `EARSHOT_API_KEY` win over it.',
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
    'With `--json` an error is `{ code, message, details }` on stderr: that of the API as it is, and one of the same shape for what',
    'never reached it.',
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
