import { type Command, type CommandGroup, command, isGroup, type Option } from '../command.ts';
import { commonOptions, oneOf, required } from '../options.ts';

/** Reads the table only when the command runs, because the table contains this command. */
export const createCompletion = (table: () => CommandGroup): Command =>
  command({
    name: 'completion',
    summary: 'print a script that completes commands and options in your shell',
    args: { shell: required(oneOf(['bash', 'zsh', 'fish'], 'the shell')) },
    aboutJson: 'the script as {"script"}',
    examples: [
      'source <(earshot completion bash)',
      'earshot completion fish > ~/.config/fish/completions/earshot.fish',
    ],
    async run({ args }, { isJson, screen }) {
      const script = scripts[args.shell](placesOf(table()));
      screen.print(isJson ? JSON.stringify({ script }) : script);
    },
  });

/** A command or an option with a value, such as ` earshot matches tail --platform`, and its possible next words. */
type Place = readonly [path: string, words: string];

export function placesOf(entry: Command | CommandGroup, before = ''): Place[] {
  const path = `${before} ${entry.name}`;
  if (isGroup(entry)) {
    const names = entry.commands.map(({ name }) => name);
    return [[path, [...names, '--help'].join(' ')], ...entry.commands.flatMap((one) => placesOf(one, path))];
  }
  const options = Object.entries<Option>({ ...entry.options, ...commonOptions() });
  const choices = Object.values(entry.args).flatMap((argument) => argument.choices ?? []);
  const own = [...choices, ...options.map(([name]) => `--${name}`), '--help'];
  const valued = options.filter(([, { placeholder }]) => placeholder !== undefined);
  return [
    [path, own.join(' ')],
    ...valued.map(([name, option]): Place => [`${path} --${name}`, option.choices?.join(' ') ?? '']),
  ];
}

/** Each script walks over the words before the cursor. `at` is their command, `own` its possible next words. */
export const scripts = {
  bash: (places: readonly Place[]): string => `_earshot() {
${posixWalk(places, '"${COMP_WORDS[@]:1:COMP_CWORD-1}"')}
  COMPREPLY=($(compgen -W "$offered" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _earshot earshot`,

  zsh: (places: readonly Place[]): string => `#compdef earshot
_earshot() {
${posixWalk(places, '"${(@)words[2,CURRENT-1]}"')}
  compadd -- \${=offered}
}
# In a folder of $fpath this file is the function itself.
if [[ $funcstack[1] == _earshot ]]; then _earshot "$@"; else compdef _earshot earshot; fi`,

  fish: (places: readonly Place[]): string => `function __earshot
  set -l at; set -l own; set -l offered
  for word in earshot (commandline -opc)[2..]
    switch "$at $word"
${places.map(([path, words]) => `      case '${path}'; set offered ${words}`).join('\n')}
      case '*'; set offered $own; continue
    end
    string match -q -- '-*' $word; or begin; set at "$at $word"; set own $offered; end
  end
  string join \\n -- $offered
end
complete -c earshot -f -a '(__earshot)'`,
};

const posixWalk = (places: readonly Place[], typed: string): string => `  local at='' own='' offered='' word
  for word in earshot ${typed}; do
    case "$at $word" in
${places.map(([path, words]) => `    '${path}') offered='${words}' ;;`).join('\n')}
    *) offered=$own; continue ;;
    esac
    case $word in -*) ;; *) at="$at $word" own=$offered ;; esac
  done`;
