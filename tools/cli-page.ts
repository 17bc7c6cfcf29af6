import { type CommandGroup, isGroup } from '../apps/cli/src/command.ts';
import { earshotCommands } from '../apps/cli/src/commands.ts';
import { exitCodes } from '../apps/cli/src/failure.ts';
import { createProgram, fullName } from '../apps/cli/src/program.ts';

type Program = ReturnType<typeof createProgram>;

/** docs/cli.md, from the table that the command line parses with. */
export function renderCliPage(): string {
  const program = createProgram(earshotCommands, async () => undefined);
  const common = entriesOf(program).filter(({ term }) => !term.includes('--version'));
  const commands = commandsOf(earshotCommands, program).map((one) => ({
    ...one,
    entries: one.entries.filter((entry) => !common.some((other) => isSame(entry, other))),
  }));
  const all = commands.flatMap(({ entries }) => entries);
  const shared = all.filter(
    (entry, index) =>
      all.filter((other) => isSame(entry, other)).length > 3 &&
      all.findIndex((other) => isSame(entry, other)) === index,
  );
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
    ...common.map(line),
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
    '## Shared options',
    '',
    'Many commands have these arguments and options:',
    '',
    ...shared.map(line),
    '',
    '## Commands',
    '',
    ...commands.flatMap((command) => section(command, shared)),
  ].join('\n');
}

/** An argument or an option, with its description. */
interface Entry {
  readonly term: string;
  readonly about: string;
}

interface DocumentedCommand {
  readonly program: Program;
  readonly examples: readonly string[];
  readonly entries: readonly Entry[];
}

function commandsOf(group: CommandGroup, program: Program): DocumentedCommand[] {
  return group.commands.flatMap((entry) => {
    const own = program.commands.find((one) => one.name() === entry.name);
    if (own === undefined) throw new Error(`${fullName(program)} ${entry.name} is not in the program`);
    if (isGroup(entry)) return commandsOf(entry, own);
    return [{ program: own, examples: entry.examples, entries: entriesOf(own) }];
  });
}

function section({ program, examples, entries }: DocumentedCommand, shared: readonly Entry[]): string[] {
  const name = fullName(program);
  const usage = program.createHelp().commandUsage(program);
  const isShared = (entry: Entry) => shared.some((other) => isSame(entry, other));
  const alsoHas = entries.filter(isShared).map(({ term }) => `\`${term.split(' <')[0]}\``);
  const lines = [
    ...entries.filter((entry) => !isShared(entry)).map(line),
    ...(alsoHas.length === 0 ? [] : [`- shared: ${alsoHas.join(', ')}`]),
  ];
  return [
    `### ${name}`,
    '',
    ...(usage === `${name} [options]` ? [] : [`\`${usage}\``, '']),
    program.description(),
    '',
    ...(lines.length === 0 ? [] : [...lines, '']),
    '```sh',
    ...examples,
    '```',
    '',
  ];
}

function entriesOf(program: Program): Entry[] {
  const help = program.createHelp();
  return [
    ...program.registeredArguments.map((argument) => ({
      term: argument.name(),
      about: argument.description,
    })),
    ...help.visibleOptions(program).map(({ flags, description }) => ({ term: flags, about: description })),
  ];
}

function isSame(one: Entry, other: Entry): boolean {
  return one.term === other.term && one.about === other.about;
}

function line({ term, about }: Entry): string {
  return `- \`${term}\`: ${about}`;
}
