#!/usr/bin/env node
import { CommanderError, type Command as Program } from 'commander';
import type { Context } from './command.ts';
import { earshotCommands } from './commands.ts';
import { connect } from './connection.ts';
import { endingOf, errorAsJson, explainError } from './explain-error.ts';
import { exitCodes } from './failure.ts';
import { noticingFetch } from './follow.ts';
import { columnsWithoutTerminal, createScreen } from './output/create-screen.ts';
import { createProgram, fullName, type Typed } from './program.ts';
import { selfOf } from './self.ts';

/** Runs one command and returns its exit code. The output goes to the streams of this process. */
export async function main(words: readonly string[]): Promise<number> {
  let code: number = exitCodes.done.code;
  let options: Typed['options'] = {};
  const program = createProgram(earshotCommands, async (command, input) => {
    options = input.options;
    code = (await command.run(input, contextOf(input))) ?? code;
  });
  const [first = '--help', ...others] = words;
  const typed = first === 'help' ? [...others, '--help'] : [first, ...others];
  try {
    await program.parseAsync(typed, { from: 'user' });
    return code;
  } catch (error) {
    // Commander has printed help or the version. A group without a command prints help to stderr.
    if (error instanceof CommanderError) return exitCodes[error.exitCode === 0 ? 'done' : 'usage'].code;
    return report(error, { options, isJson: words.includes('--json'), program: commandOf(program, words) });
  }
}

function contextOf({ isJson, noColor }: Typed): Context {
  const screen = createScreen(process, { noColor });
  const notices = screen.isInteractive ? { fetch: noticingFetch(screen.note) } : {};
  return {
    env: process.env,
    isJson,
    screen,
    self: selfOf(process.env, import.meta.filename),
    connect: (options) => connect(process.env, { ...notices, ...options }),
  };
}

/** The command or group that the words name. */
function commandOf(program: Program, words: readonly string[]): Program {
  const [first, ...others] = words.filter((word) => !word.startsWith('-'));
  const found = program.commands.find((command) => command.name() === first);
  return found === undefined ? program : commandOf(found, others);
}

interface Circumstances {
  readonly options: Typed['options'];
  readonly isJson: boolean;
  readonly program: Program;
}

function report(error: unknown, { options, isJson, program }: Circumstances): number {
  const ending = endingOf(error);
  const columns = process.stderr.columns || columnsWithoutTerminal;
  const text = isJson ? errorAsJson(error) : explainError(error, options, columns);
  if (text !== '') process.stderr.write(`${text}\n`);
  if (ending === 'usage' && !isJson) process.stderr.write(`${fullName(program)} --help shows the usage.\n`);
  return exitCodes[ending].code;
}

// A closed output (`| head`) is not a failure. Commands that run for long handle it themselves.
for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
