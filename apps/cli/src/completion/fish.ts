import type { CommandWords } from './command-words.ts';

export function fishScript(commands: readonly CommandWords[]): string {
  const lines = commands.flatMap(({ path, words, valued }) => {
    const here = `complete -c earshot -n '__earshot_at "${path}"'`;
    return words.map(({ word, about }) => {
      const values = valued.find(({ option }) => option === word);
      if (!word.startsWith('--')) return `${here} -a ${quoted(word)} -d ${quoted(about)}`;
      const taken = values === undefined ? '' : ` -x -a ${quoted(values.choices.join(' '))}`;
      return `${here} -l ${word.slice(2)}${taken} -d ${quoted(about)}`;
    });
  });
  const paths = commands.map(({ path }) => `'${path}'`).join(' ');
  return `# Completion of earshot for fish: earshot completion fish | source
function __earshot_at
    set -l place
    for word in (commandline -opc)[2..]
        set -l next (string trim "$place $word")
        contains -- $next ${paths}; and set place $next
    end
    test "$place" = "$argv[1]"
end
complete -c earshot -f
${lines.join('\n')}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
