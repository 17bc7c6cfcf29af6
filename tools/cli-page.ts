import { type Command, type CommandGroup, isGroup } from '../apps/cli/src/command.ts';
import { earshotCommands } from '../apps/cli/src/commands.ts';
import { exitCodes } from '../apps/cli/src/failure.ts';
import { createProgram, fullName } from '../apps/cli/src/program.ts';

type Program = ReturnType<typeof createProgram>;

/** docs/cli.md, from the table that the command line parses with. */
export function renderCliPage(): string {
  const program = createProgram(earshotCommands, async () => undefined);
  const common = optionRows(program).filter((row) => !row.includes('--version'));
  return [
    '# The command line',
    '',
    '`earshot` has a command for every operation of the API except `UpdateDigest` and `WhoAmI`. Start it with `npx earshot` from its package, or with `./dev earshot` or `pnpm earshot` in the repository; `pnpm build:cli` writes `earshot.mjs` to `dist`: one',
    'file that needs only Node 24. On another machine it has every command except those that start servers or open the database (`demo`,',
    '`services`, `admin`), which need the repository. This page is generated from `apps/cli/src/commands.ts` by `pnpm docs:write`.',
    '',
    '`earshot login` stores the address of a server and a key in `$XDG_CONFIG_HOME/earshot/connection.json` (otherwise below `~/.config`),',
    'for its owner only. The variables `EARSHOT_URL` and `EARSHOT_API_KEY` take precedence.',
    '',
    'Results go to stdout, everything else to stderr. Every command has:',
    '',
    ...table(common),
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
    ...commandsOf(earshotCommands, program, common),
  ].join('\n');
}

function commandsOf(group: CommandGroup, program: Program, common: readonly string[]): string[] {
  return group.commands.flatMap((entry) => {
    const own = program.commands.find((one) => one.name() === entry.name);
    if (own === undefined) throw new Error(`${fullName(program)} ${entry.name} is not in the program`);
    return isGroup(entry) ? commandsOf(entry, own, common) : section(entry, own, common);
  });
}

function section({ examples }: Command, program: Program, common: readonly string[]): string[] {
  const rows = [
    ...program.registeredArguments.map((argument) => row(argument.name(), argument.description)),
    ...optionRows(program).filter((one) => !common.includes(one)),
  ];
  return [
    `### ${fullName(program)}`,
    '',
    `\`${program.createHelp().commandUsage(program)}\``,
    '',
    program.description(),
    '',
    ...(rows.length === 0 ? [] : [...table(rows), '']),
    '```sh',
    ...examples,
    '```',
    '',
  ];
}

function table(rows: readonly string[]): string[] {
  return ['| | |', '|---|---|', ...rows];
}

function optionRows(program: Program): string[] {
  const help = program.createHelp();
  return help.visibleOptions(program).map((option) => row(option.flags, option.description));
}

function row(term: string, about: string): string {
  return `| \`${term.replaceAll('|', '\\|')}\` | ${about.replaceAll('|', '\\|')} |`;
}
