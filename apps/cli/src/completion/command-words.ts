import { type CommandGroup, isGroup, type Option } from '../command.ts';
import { commonOptions } from '../parse-arguments.ts';

/** What may follow a command, for the scripts of all shells. */
export interface CommandWords {
  /** `rules create`; empty for the program itself. */
  readonly path: string;
  readonly words: readonly Word[];
  /** Options that take a value, with the values where there is a list. */
  readonly valued: readonly { readonly option: string; readonly choices: readonly string[] }[];
}

export interface Word {
  readonly word: string;
  readonly about: string;
}

export function commandWords(group: CommandGroup, path: readonly string[] = []): CommandWords[] {
  const own = {
    path: path.join(' '),
    words: [...group.commands.map(({ name, summary }) => ({ word: name, about: summary })), help],
    valued: [],
  };
  const below = group.commands.flatMap((entry): CommandWords[] => {
    const entryPath = [...path, entry.name];
    if (isGroup(entry)) return commandWords(entry, entryPath);
    const options = Object.entries<Option>({ ...entry.options, ...commonOptions(entry) });
    const placed = Object.values(entry.args).flatMap(({ choices = [], about }) =>
      choices.map((word) => ({ word, about })),
    );
    return [
      {
        path: entryPath.join(' '),
        words: [...placed, ...options.map(([name, { about }]) => ({ word: `--${name}`, about }))],
        valued: options
          .filter(([, { placeholder }]) => placeholder !== undefined)
          .map(([name, { choices = [] }]) => ({ option: `--${name}`, choices })),
      },
    ];
  });
  return [own, ...below];
}

const help: Word = { word: '--help', about: 'what it can do' };
