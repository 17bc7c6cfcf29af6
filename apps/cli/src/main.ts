#!/usr/bin/env node
import { type Command, type CommandGroup, type Context, isGroup } from './command.ts';
import { earshotCommands } from './commands.ts';
import { connect } from './connection.ts';
import { endingOf, errorAsJson, explainError } from './explain-error.ts';
import { exitCodes, usageFailure } from './failure.ts';
import { noticingFetch } from './follow.ts';
import { helpOf } from './help.ts';
import { columnsWithoutTerminal, createScreen } from './output/create-screen.ts';
import { parseArguments, type Resolved, resolveCommand } from './parse-arguments.ts';
import { selfOf } from './self.ts';
import { version } from './version.ts';

/** What an error must know of what was typed, as far as it was read. */
interface Progress {
  options: Readonly<Record<string, unknown>>;
  isJson: boolean;
  path: readonly string[];
}

/** Runs one command and returns its exit code; what it says goes to the outputs of this process. */
export async function main(words: readonly string[]): Promise<number> {
  const progress: Progress = { options: {}, isJson: words.includes('--json'), path: [] };
  try {
    return await runCommand(words, progress);
  } catch (error) {
    return report(error, progress);
  }
}

async function runCommand(words: readonly string[], progress: Progress): Promise<number> {
  const [first, ...others] = words;
  const asked = first === 'help' ? [...others, '--help'] : words;
  const resolved = resolveCommand(earshotCommands, asked);
  const { entry, path, rest } = resolved;
  progress.path = path;
  if (isGroup(entry)) return runGroup({ entry, path, rest });
  const typed = parseArguments(entry, rest);
  progress.options = typed.options;
  progress.isJson = typed.isJson;
  const screen = createScreen(process, typed);
  if (typed.isHelp) {
    screen.print(helpOf(entry, path));
    return exitCodes.done.code;
  }
  const notices = screen.isInteractive ? { fetch: noticingFetch(screen.note) } : {};
  const context: Context = {
    env: process.env,
    isJson: typed.isJson,
    screen,
    self: selfOf(process.env, import.meta.filename),
    connect: (options) => connect(process.env, { ...notices, ...options }),
  };
  return (await entry.run(typed, context)) ?? exitCodes.done.code;
}

/** A group does nothing by itself: its help is an answer to a question, and otherwise to a mistake. */
function runGroup({ entry, path, rest }: Resolved<Command | CommandGroup>): number {
  const isRoot = path.length === 0;
  if (isRoot && rest[0] === '--version') {
    process.stdout.write(`${version}\n`);
    return exitCodes.done.code;
  }
  const unknown = rest.find((word) => !['--help', '-h', '--json', '--no-color'].includes(word));
  if (unknown !== undefined)
    throw usageFailure(`${unknown} is not an option of ${['earshot', ...path].join(' ')}.`);
  const isAsked = rest.includes('--help') || rest.includes('-h') || (isRoot && rest.length === 0);
  (isAsked ? process.stdout : process.stderr).write(`${helpOf(entry, path)}\n`);
  return isAsked ? exitCodes.done.code : exitCodes.usage.code;
}

function report(error: unknown, { options, isJson, path }: Progress): number {
  const ending = endingOf(error);
  const columns = process.stderr.columns || columnsWithoutTerminal;
  const text = isJson ? errorAsJson(error) : explainError(error, options, columns);
  if (text !== '') process.stderr.write(`${text}\n`);
  if (ending === 'usage' && !isJson) {
    process.stderr.write(`${['earshot', ...path, '--help'].join(' ')} shows the usage.\n`);
  }
  return exitCodes[ending].code;
}

// A reader that went away (`| head`) is no failure; commands that go on for long listen for it themselves.
for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
