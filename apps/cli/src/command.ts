import type { Earshot, EarshotOptions } from '@earshot/sdk';
import type { Screen } from './output/screen.ts';

/**
 * One option (`--limit 5`) or argument (`rules get <rule id>`) of a command. Help, completion, parsing and docs/cli.md are
 * derived from it.
 */
export interface Option<Value = unknown> {
  readonly about: string;
  /** The placeholder of the value in the help: `<n>`. Without it, the option is a flag. */
  readonly placeholder?: string;
  /** The form of the value, if several options have it: examples of times. The help shows it after `about`. */
  readonly format?: string;
  /** For the help and for completion. */
  readonly choices?: readonly string[];
  readonly isRequired?: boolean;
  /** It may be given several times; `read` gets the values with commas between them. */
  readonly isRepeatable?: boolean;
  /** Parses the text, undefined if not given. Throws a usage failure. `now` is the same for all options of a command. */
  readonly read: (text: string | undefined, now?: Date) => Value;
}

export type Options = Readonly<Record<string, Option>>;

type ValuesOf<Taken extends Options> = { readonly [Name in keyof Taken]: ReturnType<Taken[Name]['read']> };

/** The parsed options and arguments. */
export interface Input<Named extends Options, Placed extends Options> {
  readonly options: ValuesOf<Named>;
  readonly args: ValuesOf<Placed>;
}

/** The environment of a command. */
export interface Context {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `--json` was given. */
  readonly isJson: boolean;
  readonly screen: Screen;
  /** How the user starts `earshot`, for commands that they can paste. */
  readonly self: string;
  /** Creates a client with the stored login. Fails with instructions if there is none. */
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
  /** Positional arguments, in this order. */
  readonly args?: Placed;
  /** What `--json` does, if it does not simply print the answer. */
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

/** For commands without options. */
export type NoOptions = Readonly<Record<string, never>>;

export interface CommandGroup {
  readonly name: string;
  readonly summary: string;
  readonly section?: string;
  readonly commands: readonly (Command | CommandGroup)[];
}

/** Checks `run` against the options, then widens the type, because the table has commands with different options. */
export function command<const Named extends Options = NoOptions, const Placed extends Options = NoOptions>(
  definition: Definition<Named, Placed>,
): Command {
  return { options: {}, args: {}, ...definition };
}

export function isGroup(entry: Command | CommandGroup): entry is CommandGroup {
  return 'commands' in entry;
}
