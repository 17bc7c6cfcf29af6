import { type Command, type CommandGroup, command } from '../command.ts';
import { bashScript } from '../completion/bash.ts';
import { commandWords } from '../completion/command-words.ts';
import { fishScript } from '../completion/fish.ts';
import { zshScript } from '../completion/zsh.ts';
import { oneOf, required } from '../options.ts';

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

/** The table is asked for when it is complete: this command is part of it. */
export const createCompletion = (table: () => CommandGroup): Command =>
  command({
    name: 'completion',
    summary: 'a script that completes commands and options in your shell',
    args: { shell: required(oneOf(['bash', 'zsh', 'fish'], 'the shell')) },
    aboutJson: 'the script as {"script"}',
    examples: [
      'source <(earshot completion bash)',
      'earshot completion fish > ~/.config/fish/completions/earshot.fish',
    ],
    async run({ args }, { isJson, screen }) {
      const script = scripts[args.shell](commandWords(table()));
      screen.print(isJson ? JSON.stringify({ script }) : script);
    },
  });
