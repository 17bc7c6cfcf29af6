import { type Command, type CommandGroup, isGroup } from '../src/command.ts';
import { earshotCommands } from '../src/commands.ts';

export interface NamedCommand {
  readonly name: string;
  readonly path: readonly string[];
  readonly entry: Command;
}

export function allCommands(
  group: CommandGroup = earshotCommands,
  path: readonly string[] = [],
): NamedCommand[] {
  return group.commands.flatMap((entry) => {
    const entryPath = [...path, entry.name];
    return isGroup(entry)
      ? allCommands(entry, entryPath)
      : [{ name: entryPath.join(' '), path: entryPath, entry }];
  });
}
