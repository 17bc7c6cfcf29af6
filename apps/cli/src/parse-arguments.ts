import { parseArgs } from 'node:util';
import { closest } from '@earshot/query';
import { type Command, type CommandGroup, isGroup, type Option, type Options } from './command.ts';
import { Failure, usageFailure } from './failure.ts';
import { flag } from './options.ts';

/** Every command has these. */
export function commonOptions(command: Pick<Command, 'aboutJson'>) {
  return {
    json: flag(command.aboutJson ?? 'the answer as JSON on stdout, an error as JSON on stderr'),
    'no-color': flag('no colours (nor with the variable NO_COLOR, nor into a file or pipe)'),
    help: flag('what you are reading'),
  };
}

export interface Resolved<Entry> {
  readonly entry: Entry;
  /** Names of the groups above it, and its own. */
  readonly path: readonly string[];
  /** What was typed besides them. */
  readonly rest: readonly string[];
}

/** Follows the words that name a command through the groups, to the command or to the group where they end. */
export function resolveCommand(
  root: CommandGroup,
  words: readonly string[],
): Resolved<Command | CommandGroup> {
  let entry: Command | CommandGroup = root;
  const path: string[] = [];
  const rest: string[] = [];
  for (const word of words) {
    if (!isGroup(entry) || word.startsWith('-')) {
      rest.push(word);
      continue;
    }
    const found: Command | CommandGroup | undefined = entry.commands.find(({ name }) => name === word);
    if (found === undefined) throw noSuchCommand([...path, word], entry);
    entry = found;
    path.push(word);
  }
  return { entry, path, rest };
}

function noSuchCommand(path: readonly string[], group: CommandGroup): Failure {
  const names = group.commands.map(({ name }) => name);
  const word = path.at(-1) ?? '';
  const meant = meantBy(word, names);
  const before = ['earshot', ...path.slice(0, -1)].join(' ');
  const hint = meant === undefined ? `There are: ${names.join(', ')}.` : `Did you mean ${before} ${meant}?`;
  return usageFailure(`There is no command ${before} ${word}. ${hint}`);
}

/** The nearest, or the first that begins so. */
function meantBy(word: string, names: readonly string[]): string | undefined {
  return closest(word, names) ?? names.find((name) => word.length > 1 && name.startsWith(word));
}

export interface Typed {
  readonly options: Readonly<Record<string, unknown>>;
  readonly args: Readonly<Record<string, unknown>>;
  readonly isJson: boolean;
  readonly isHelp: boolean;
  readonly noColor: boolean;
}

/** Reads everything that was typed before anything is done. */
export function parseArguments(command: Command, rest: readonly string[]): Typed {
  const known: Options = { ...command.options, ...commonOptions(command) };
  const { given, placed } = readTokens(known, rest);
  const common = {
    isJson: given.has('json'),
    isHelp: given.has('help'),
    noColor: given.has('no-color'),
  };
  if (common.isHelp) return { options: {}, args: {}, ...common };
  const names = Object.keys(command.args);
  if (placed.length > names.length) {
    throw usageFailure(
      `"${placed[names.length] ?? ''}" is one word too many. Text with spaces needs quotes.`,
    );
  }
  const options = readValues(
    command.options,
    (name) => given.get(name),
    (name) => `--${name}`,
  );
  const args = readValues(
    command.args,
    (name) => placed[names.indexOf(name)],
    (name) => command.args[name]?.placeholder ?? name,
  );
  return { options, args, ...common };
}

function readTokens(known: Options, rest: readonly string[]) {
  const types = Object.entries(known).map(([name, { placeholder }]) => [
    name,
    { type: placeholder === undefined ? ('boolean' as const) : ('string' as const) },
  ]);
  const { tokens } = parseArgs({
    args: rest.map((word) => (word === '-h' ? '--help' : word)),
    options: Object.fromEntries(types),
    // Its own complaints know no suggestions; and an X rule may well begin with a dash.
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const given = new Map<string, string>();
  const placed: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') placed.push(token.value);
    if (token.kind !== 'option') continue;
    const { name, rawName, value } = token;
    const option = Object.hasOwn(known, name) && rawName.startsWith('--') ? known[name] : undefined;
    if (option === undefined) throw noSuchOption(rawName, Object.keys(known));
    if (given.has(name)) throw usageFailure(`--${name} is given twice.`);
    given.set(name, readGiven(option, { name, value, known }));
  }
  return { given, placed };
}

function readGiven(
  { placeholder }: Option,
  { name, value, known }: { name: string; value: string | undefined; known: Options },
): string {
  if (placeholder === undefined) {
    if (value !== undefined) throw usageFailure(`--${name} takes no value.`);
    return '';
  }
  const isNextOption = value?.startsWith('--') === true && Object.hasOwn(known, value.slice(2));
  if (value === undefined || isNextOption)
    throw usageFailure(`--${name} needs a value: --${name} ${placeholder}`);
  return value;
}

function noSuchOption(rawName: string, known: readonly string[]): Failure {
  const word = rawName.replace(/^-+/, '');
  const meant = meantBy(word, known);
  const hint =
    meant === undefined
      ? `There are: ${known.map((name) => `--${name}`).join(', ')}.`
      : `Did you mean --${meant}?`;
  return usageFailure(`${rawName} is not an option of this command. ${hint}`);
}

function readValues(
  taken: Options,
  find: (name: string) => string | undefined,
  label: (name: string) => string,
): Record<string, unknown> {
  const now = new Date();
  const values = Object.entries(taken).map(([name, option]) => {
    try {
      return [name, option.read(find(name), now)];
    } catch (error) {
      if (error instanceof Failure) throw usageFailure(`${label(name)} ${error.message}`);
      throw error;
    }
  });
  return Object.fromEntries(values);
}
