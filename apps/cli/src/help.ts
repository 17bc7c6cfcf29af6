import { type Command, type CommandGroup, isGroup, type Option, type Options } from './command.ts';
import { commonOptions } from './parse-arguments.ts';

/** What `--help` prints. */
export function helpOf(entry: Command | CommandGroup, path: readonly string[]): string {
  return isGroup(entry) ? groupHelp(entry, path) : commandHelp(entry, path);
}

/** `earshot rules get <rule id>`, with what must be given. */
export function usageLine(command: Command, path: readonly string[]): string {
  const named = Object.entries(command.options).filter(([, { isRequired }]) => isRequired);
  return [
    'earshot',
    ...path,
    ...named.map(([name, option]) => optionForm(name, option)),
    ...Object.entries(command.args).map(([name, option]) => argumentForm(name, option)),
    '[options]',
  ].join(' ');
}

export function optionForm(name: string, { placeholder }: Option): string {
  return placeholder === undefined ? `--${name}` : `--${name} ${placeholder}`;
}

export function argumentForm(name: string, { placeholder = `<${name}>`, isRequired }: Option): string {
  return isRequired ? placeholder : `[${placeholder}]`;
}

function groupHelp(group: CommandGroup, path: readonly string[]): string {
  const own = ['earshot', ...path].join(' ');
  const rows = group.commands.map((entry) => [
    isGroup(entry) && path.length > 0 ? `${entry.name} …` : entry.name,
    entry.summary,
  ]);
  return [
    `Usage: ${own} <command> [options]`,
    '',
    sentence(group.summary),
    '',
    ...columns(rows),
    '',
    `${own} <command> --help shows the options and examples of a command.`,
  ].join('\n');
}

function commandHelp(command: Command, path: readonly string[]): string {
  const { summary, details, options, args, examples } = command;
  const blocks = [
    [`Usage: ${usageLine(command, path)}`],
    [sentence(summary)],
    details === undefined ? [] : [details],
    columns(Object.entries(args).map(([name, option]) => [argumentForm(name, option), aboutOf(option)])),
    columns([...optionRows(options), ...optionRows(commonOptions(command))]),
    [examples.length === 1 ? 'Example:' : 'Examples:', ...examples.map((example) => `  ${example}`)],
  ];
  return blocks
    .filter((block) => block.length > 0)
    .map((block) => block.join('\n'))
    .join('\n\n');
}

function optionRows(options: Options): string[][] {
  return Object.entries(options).map(([name, option]) => [optionForm(name, option), aboutOf(option)]);
}

export function aboutOf({ about, isRequired }: Option): string {
  return isRequired ? `${about} (required)` : about;
}

function columns(rows: readonly string[][]): string[] {
  const width = Math.max(0, ...rows.map(([first = '']) => first.length));
  return rows.map(([first = '', second = '']) => `  ${first.padEnd(width)}  ${second}`);
}

export function sentence(summary: string): string {
  return `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
}
