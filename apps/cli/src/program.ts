import { type CommanderError, Option as Flag, Command as Program } from 'commander';
import { type Command, type CommandGroup, isGroup, type Option, type Options } from './command.ts';
import { Failure, usageFailure } from './failure.ts';
import { commonOptions } from './options.ts';
import { version } from './version.ts';

export interface Typed {
  readonly options: Readonly<Record<string, unknown>>;
  readonly args: Readonly<Record<string, unknown>>;
  readonly isJson: boolean;
  readonly noColor: boolean;
}

type Run = (command: Command, typed: Typed) => Promise<void>;

/**
 * Creates a Commander program from the table. It throws a Failure for a mistake in the command line, and a CommanderError
 * after it has printed help or the version.
 */
export function createProgram(table: CommandGroup, run: Run): Program {
  const program = new Program(table.name)
    .version(version, '--version', 'show the version')
    .helpOption('-h, --help', 'show this help')
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .configureOutput({ outputError: () => undefined });
  addOptions(program, commonOptions());
  return addGroup(program, table, run);
}

/** `earshot rules create` */
export function fullName(program: Program): string {
  return program.parent === null ? program.name() : `${fullName(program.parent)} ${program.name()}`;
}

function addGroup(program: Program, group: CommandGroup, run: Run): Program {
  program
    .description(sentence(group.summary))
    .usage('<command> [options]')
    .helpCommand(false)
    .exitOverride((error) => {
      const isHelp = error.exitCode === 0 || error.code === 'commander.help';
      throw isHelp ? error : usageFailure(reasonOf(error, group));
    })
    .addHelpText(
      'after',
      `\n${fullName(program)} <command> --help shows the options and examples of a command.`,
    );
  for (const entry of group.commands) {
    const child = program.command(entry.name).summary(entry.summary);
    if (entry.section !== undefined) child.helpGroup(`${entry.section}:`);
    if (isGroup(entry)) addGroup(child, entry, run);
    else addCommand(child, entry, run);
  }
  return program;
}

function addCommand(program: Program, command: Command, run: Run): void {
  const { summary, details, options, args, examples } = command;
  addOptions(program, { ...options, ...commonOptions(command.aboutJson) });
  const required = program.options.filter((option) => options[option.name()]?.isRequired);
  for (const [name, { about, placeholder = `<${name}>`, isRequired }] of Object.entries(args))
    program.argument(isRequired ? placeholder : `[${placeholder.slice(1, -1)}]`, about);
  program
    .usage([...required.map(({ flags }) => flags), program.usage()].join(' '))
    .description([sentence(summary), details].filter(Boolean).join('\n\n'))
    .addHelpText('after', ['\nExamples:', ...examples].join('\n  '))
    .action(async () => {
      const { json, color } = program.optsWithGlobals();
      const given = program.options.map((option) => program.getOptionValue(option.attributeName()));
      await run(command, {
        options: readValues(options, given, (name) => `--${name}`),
        args: readValues(args, program.args, (name, { placeholder }) => placeholder ?? name),
        isJson: json === true,
        noColor: color === false,
      });
    });
}

function addOptions(program: Program, options: Options): void {
  for (const [name, { about, placeholder, format, isRequired, isRepeatable }] of Object.entries(options)) {
    const flags = [`--${name}`, placeholder].filter(Boolean).join(' ');
    const help = [about, format].filter(Boolean).join(': ');
    const added = new Flag(flags, isRequired ? `${help} (required)` : help);
    if (placeholder !== undefined) {
      added.argParser((text: string, previous: string | undefined) => {
        if (previous !== undefined && !isRepeatable) throw usageFailure(`--${name} is given twice.`);
        // Commander would use the next option as the value.
        if (program.options.some(({ long }) => long === text))
          throw usageFailure(`--${name} needs a value: ${flags}`);
        return previous === undefined ? text : `${previous},${text}`;
      });
    }
    program.addOption(added);
  }
}

/** `given` is in the order of the table; a flag is true. */
function readValues(
  taken: Options,
  given: readonly (string | true | undefined)[],
  label: (name: string, option: Option) => string,
): Record<string, unknown> {
  const now = new Date();
  const values = Object.entries(taken).map(([name, option], index) => {
    const value = given[index];
    try {
      return [name, option.read(value === true ? '' : value, now)];
    } catch (error) {
      if (error instanceof Failure) throw usageFailure(`${label(name, option)} ${error.message}`);
      throw error;
    }
  });
  return Object.fromEntries(values);
}

export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`;
}

/** Commander's message is `error: unknown command 'ruls'`, and perhaps a second line `(Did you mean rules?)`. */
function reasonOf({ code, message }: CommanderError, { commands }: CommandGroup): string {
  const [reason = '', hint] = message.replace('error: ', '').split('\n');
  if (hint !== undefined) return `${sentence(reason)} ${hint.slice(1, -1)}`;
  const known =
    code === 'commander.unknownCommand' ? ` There are: ${commands.map(({ name }) => name).join(', ')}.` : '';
  return `${sentence(reason)}${known}`;
}
