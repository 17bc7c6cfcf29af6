import type { Earshot, EarshotOptions } from '@earshot/sdk';
import type { Screen } from './output/screen.ts';

/**
 * One value that a command takes, after a name (`--limit 5`) or by its place (`rules get <rule id>`). Help, completion,
 * parsing and docs/cli.md all come from it.
 */
export interface Option<Value = unknown> {
  readonly about: string;
  /** What stands for the value in the help: `<n>`. Without it the option is a flag. */
  readonly placeholder?: string;
  /** For the help and for completion. */
  readonly choices?: readonly string[];
  readonly isRequired?: boolean;
  /** Undefined when it was not given. Throws a usage failure. `now` is the same for all options of a command. */
  readonly read: (text: string | undefined, now?: Date) => Value;
}

export type Options = Readonly<Record<string, Option>>;

type ValuesOf<Taken extends Options> = { readonly [Name in keyof Taken]: ReturnType<Taken[Name]['read']> };

/** What was typed, read and checked. */
export interface Input<Named extends Options, Placed extends Options> {
  readonly options: ValuesOf<Named>;
  readonly args: ValuesOf<Placed>;
}

/** What a command works with besides what was typed. */
export interface Context {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `--json` was given. */
  readonly isJson: boolean;
  readonly screen: Screen;
  /** What to type for `earshot`, in commands for the user to paste. */
  readonly self: string;
  /** The client of whoever logged in; fails with what to do when nobody has. */
  readonly connect: (options?: Pick<EarshotOptions, 'fetch' | 'timeoutMs'>) => Promise<Earshot>;
}

interface Definition<Named extends Options, Placed extends Options> {
  readonly name: string;
  /** One line for lists of commands. */
  readonly summary: string;
  /** More for its own help. */
  readonly details?: string;
  /** Every command also has `--json`, `--no-color` and `--help`. */
  readonly options?: Named;
  /** By place, in this order. */
  readonly args?: Placed;
  /** What `--json` does where it is not simply the answer. */
  readonly aboutJson?: string;
  readonly examples: readonly [string, ...string[]];
  /** Returns the exit code, or nothing for 0. Results go to stdout, everything else to stderr. */
  run(input: Input<Named, Placed>, context: Context): Promise<number | void>;
}

export type Command = Definition<Options, Options> & {
  readonly options: Options;
  readonly args: Options;
  /** Heading above it in the list of commands. */
  readonly section?: string;
};

/** Of a command that takes none. */
export type NoOptions = Readonly<Record<string, never>>;

export interface CommandGroup {
  readonly name: string;
  readonly summary: string;
  readonly section?: string;
  readonly commands: readonly (Command | CommandGroup)[];
}

/** Checks `run` against the options, then widens the type: the table holds commands with different options. */
export function command<const Named extends Options = NoOptions, const Placed extends Options = NoOptions>(
  definition: Definition<Named, Placed>,
): Command {
  return { options: {}, args: {}, ...definition };
}

export function isGroup(entry: Command | CommandGroup): entry is CommandGroup {
  return 'commands' in entry;
}
